"""What a citation is: model, per-society style, section paths, strict parse and format, lenient parse."""
