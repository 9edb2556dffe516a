package fleet

import "fmt"

// Every GPU is an A100 with 40 GB: whole, or in the partitions that its memory slices allow.
const (
	product = "NVIDIA A100-SXM4-40GB"
	driver  = "gpu.nvidia.com"
	// DevicesPerGPU counts the whole GPU and all 18 partitions that can be made of it.
	DevicesPerGPU = 19
)

// profile is a kind of partition; its numbers are what one partition takes of the GPU.
type profile struct {
	name string
	// id is NVIDIA's number of the profile.
	id              int
	memoryMi        int64
	multiprocessors int64
	// slices of memory, from each of the starts.
	slices int
	starts []int
}

var whole = profile{name: "", memoryMi: 40320, multiprocessors: 98, slices: 8, starts: []int{0}}

var profiles = []profile{
	{"1g.5gb", 19, 4864, 14, 1, []int{0, 1, 2, 3, 4, 5, 6}},
	{"1g.10gb", 15, 9984, 14, 2, []int{0, 2, 4, 6}},
	{"2g.10gb", 14, 9984, 28, 2, []int{0, 2, 4}},
	{"3g.20gb", 9, 20096, 42, 4, []int{0, 4}},
	{"4g.20gb", 5, 20096, 56, 4, []int{0}},
	{"7g.40gb", 0, 40320, 98, 8, []int{0}},
}

func mi(n int64) string { return fmt.Sprintf("%dMi", n) }
