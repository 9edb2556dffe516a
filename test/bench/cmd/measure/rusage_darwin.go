package main

// maxrssUnit is the unit of the peak memory that the kernel reports.
const maxrssUnit = 1
