"""Click commands: parse, wire, call one use case, print, exit code."""
