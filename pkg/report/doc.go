// Package report writes results for people and for programs.
//
// In: charges and explanations. Out: the machine output, whose Go types are here ([ChargeList],
// [ExplanationList]) and whose JSON Schemas are generated from them, and screens for a terminal.
//
// A result is a [Document]. Each format is one [Printer] in a file of its own: table.go, json.go,
// yaml.go, name.go, template.go. Lists are written item by item: an item is converted when its turn
// comes and is garbage afterwards, so that ten thousand workloads need no more memory than one.
package report
