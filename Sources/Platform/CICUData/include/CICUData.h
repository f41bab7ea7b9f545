// This module has no functions: see CICUData.c.
