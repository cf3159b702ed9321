"""The routes of attachments."""
