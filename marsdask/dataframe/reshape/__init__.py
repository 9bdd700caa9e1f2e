"""Frames made of other frames: concat."""
