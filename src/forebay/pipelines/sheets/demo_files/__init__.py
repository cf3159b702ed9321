"""The files of the demo, and the program that writes them."""
