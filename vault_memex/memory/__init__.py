"""What an assistant makes of notes: pure functions over values."""
