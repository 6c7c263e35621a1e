"""What is noted at a stored call, so that it can be shown again as it was (query pipeline 3.2, 3.3, 5.8).

The call itself keeps the arguments as the model wrote them.
"""

PREPARED_ARGUMENTS = "prepared_arguments"
"""What the tool's declared types and defaults made of the arguments, where that is something else."""

EDITED_ARGUMENTS = "edited_arguments"
"""What the user made of the arguments."""

RENDERED_ARGUMENTS = "rendered_arguments"
"""What a formatter command wrote of the arguments, in base64."""

RENDERED_EDITED_ARGUMENTS = "rendered_edited_arguments"
"""What a formatter command wrote of the edited arguments, in base64."""
