"""The MCP server: parse input, call one service, render."""
