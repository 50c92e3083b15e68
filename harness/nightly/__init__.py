"""The five stages of a night as use cases."""
