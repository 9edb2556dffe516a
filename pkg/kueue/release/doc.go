// Package release knows the releases of Kueue: their numbers, what each does where releases differ, and
// the feature gates each has.
//
// In: a version as someone wrote it. Out: a [Version] with the release that stands for it, and that
// release's [Behavior], data that the engine asks instead of comparing numbers, and [Gates].
//
// To add a release: its name in release.go (releases), its rules in behavior_table.go, its gates in
// gates_table.go. What a release does differently in a way no field tells yet is a new field in behavior.go.
package release
