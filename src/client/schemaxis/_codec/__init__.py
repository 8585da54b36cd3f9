"""Between the models and the messages: pure functions, one module a noun."""
