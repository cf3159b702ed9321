"""The measurements. What is compared is measured in turns, again and again, in one run."""
