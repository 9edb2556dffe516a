// Package rulepack lets users write lint rules of their own, as YAML with CEL expressions.
//
// In: the files of rule packs ([Load]). Out: rules for package lint, in the order of their IDs, or an [Errors] that
// says for every mistake in which file, line and column it is. Expressions are compiled and type-checked when a pack is
// loaded: a misspelled field of charge, queue or cluster is found then, not when the rule meets an object.
//
// A rule is evaluated once for each object it matches, with a limit on its cost. An expression that fails on an object,
// or costs too much, is reported as a finding about the rule ([lint.RuleFailed]), never taken for a pass. A rule that
// asks for what the input does not hold is reported as not evaluated for it.
//
// The examples a rule carries are its tests ([Test]).
package rulepack
