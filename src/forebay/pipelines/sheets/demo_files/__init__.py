"""The files of the demo, and the program that has written them."""
