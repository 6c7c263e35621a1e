"""What the model is shown beside the conversation: files, commands, web pages, conversations, MCP resources.

Begin with `registry`: it sends each entry of the configuration to its handler. `naming` reads what a query
names itself. Every handler is a module of its own, and takes all of its entries at once.
"""
