"""What people look at: tables in HTML, and drawings."""
