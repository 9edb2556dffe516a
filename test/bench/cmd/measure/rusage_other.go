//go:build !darwin

package main

// maxrssUnit is the unit of the peak memory that the kernel reports: kibibytes.
const maxrssUnit = 1024
