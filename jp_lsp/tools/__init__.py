"""What a tool call goes through: its definition, its states, who decides."""
