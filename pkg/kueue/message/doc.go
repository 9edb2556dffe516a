// Package message holds the texts that Kueue writes into conditions: each stands here once, as a form with fields.
//
// In: a [Code] with the values of its fields. Out: the text a release writes ([Message.Text]); and back: a text becomes
// messages again ([Parse], [Find]), and plain words ([Meaning]). Packages decide by codes, never by matching a text.
//
//	queue.go    a queue is missing, inactive, stopped, or not for the namespace
//	attempt.go  a scheduling attempt: checks of the workload, what got in its way, preemption
//	flavor.go   why a pod set gets no flavor: parts of the scheduler's message
//	device.go   claims and devices: parts of field errors
//	life.go     admission, deactivation, eviction, admission checks
//	form.go     how forms are written, filled in and read
//	meaning.go  conditions in plain words
//
// What Kueue writes about the queues themselves stands in package queuestate.
package message
