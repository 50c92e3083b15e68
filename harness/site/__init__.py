"""Pages and twins from one frozen result."""
