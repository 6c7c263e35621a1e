"""What a conversation is: events, the stream they form, and its repair."""
