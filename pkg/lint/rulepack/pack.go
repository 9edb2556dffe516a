package rulepack

// APIVersion and Kind of a rule pack.
const (
	APIVersion = "gpuquota.dev/v1alpha1"
	Kind       = "RulePack"
)

// Pack is a file with rules for lint, or one YAML document of such a file.
type Pack struct {
	// APIVersion is gpuquota.dev/v1alpha1.
	APIVersion string `yaml:"apiVersion" json:"apiVersion" jsonschema:"enum=gpuquota.dev/v1alpha1"`
	// Kind is RulePack.
	Kind     string   `yaml:"kind" json:"kind" jsonschema:"enum=RulePack"`
	Metadata Metadata `yaml:"metadata" json:"metadata"`
	Spec     Spec     `yaml:"spec" json:"spec"`
}

// Metadata names a pack.
type Metadata struct {
	// Name of the pack, for people.
	Name string `yaml:"name" json:"name"`
}

// Spec holds the rules of a pack.
type Spec struct {
	Rules []Rule `yaml:"rules" json:"rules" jsonschema:"minItems=1"`
}

// Rule is one rule of a pack.
type Rule struct {
	// ID is two to sixteen capital letters and three digits, such as HOUSE001. GQ is reserved for the program's own
	// rules.
	ID string `yaml:"id" json:"id" jsonschema:"pattern=^[A-Z]{2\\,16}[0-9]{3}$"`
	// Name is the ID in words, in kebab case.
	Name string `yaml:"name" json:"name" jsonschema:"pattern=^[a-z0-9]+(-[a-z0-9]+)*$"`
	// Severity of its findings; warning when empty.
	Severity string `yaml:"severity" json:"severity,omitempty" jsonschema:"enum=error,enum=warning,enum=info"`
	// Title says in one line what the rule finds, without full stop.
	Title string `yaml:"title" json:"title"`
	// Why says in one paragraph why it matters.
	Why string `yaml:"why" json:"why,omitempty"`
	// Since says from which versions on the rule holds.
	Since string `yaml:"since" json:"since,omitempty"`
	// Links lead to more about it.
	Links []string `yaml:"links" json:"links,omitempty"`
	// Match says which objects the rule looks at.
	Match Match `yaml:"match" json:"match"`
	// Expression is a CEL expression that is true for an object that is right.
	Expression string `yaml:"expression" json:"expression"`
	// Message of a finding, lower-case and without full stop.
	Message string `yaml:"message" json:"message,omitempty"`
	// MessageExpression is a CEL expression for the message. When it fails on an object, Message is used.
	MessageExpression string `yaml:"messageExpression" json:"messageExpression,omitempty"`
	// Help says what to do.
	Help string `yaml:"help" json:"help,omitempty"`
	// Path of the field that is wrong, such as spec.template.spec.priorityClassName. Of a path that does not exist the
	// deepest existing part is shown. Empty means the object's name.
	Path string `yaml:"path" json:"path,omitempty"`
	// PathExpression is a CEL expression for the path, or for a list of paths: there is one finding for each.
	PathExpression string `yaml:"pathExpression" json:"pathExpression,omitempty"`
	// Examples are what `rules test` tries the rule on, and what its page shows.
	Examples Examples `yaml:"examples" json:"examples"`
}

// Match selects objects. What is not set selects all.
type Match struct {
	// Workloads selects what Kueue makes workloads of, whatever its kind, and Workload objects whose job is not in the
	// input. It stands in place of kinds.
	Workloads bool `yaml:"workloads" json:"workloads,omitempty"`
	// Kinds are written as Kind, or Kind.group.
	Kinds []string `yaml:"kinds" json:"kinds,omitempty"`
	// Namespaces are names or patterns with * and ?.
	Namespaces []string `yaml:"namespaces" json:"namespaces,omitempty"`
	// NamespaceLabels is a selector for the labels of the namespace, such as env=dev or env in (dev, test).
	NamespaceLabels string `yaml:"namespaceLabels" json:"namespaceLabels,omitempty"`
	// Labels is a selector for the labels of the object.
	Labels string `yaml:"labels" json:"labels,omitempty"`
}

// Examples of a rule.
type Examples struct {
	// Good manifests have no finding of the rule.
	Good []Example `yaml:"good" json:"good,omitempty"`
	// Bad manifests have one.
	Bad []Example `yaml:"bad" json:"bad,omitempty"`
}

// Example is one test of a rule.
type Example struct {
	// Name says in a few words what is tried.
	Name string `yaml:"name" json:"name,omitempty"`
	// Manifests are YAML documents that are taken for the whole input.
	Manifests string `yaml:"manifests" json:"manifests"`
	// Want are parts of the messages, one for each finding, in the order of their places. Empty asks for at least one
	// finding.
	Want []string `yaml:"want" json:"want,omitempty"`
}
