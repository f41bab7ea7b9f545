// There is nothing to call: see CICUData.c.
