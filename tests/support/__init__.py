"""What tests share: the real data's folder, both database engines, processes and the browser."""
