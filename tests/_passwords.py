"""Passwords that are hashed as they are in production, but with little time and memory: with all of it that is a tenth
of a second of CPU each."""

from argon2 import PasswordHasher

QUICK = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
