package remedy

import "testing"

func TestEditsOfAPatch(t *testing.T) {
	for name, c := range map[string]struct {
		ops  []op
		want string
	}{
		"a field":       {[]op{{"add", "/spec/parallelism", 1}}, "set spec.parallelism to 1"},
		"a label":       {[]op{{"add", "/metadata/labels/" + escape("kueue.x-k8s.io/queue-name"), "q"}}, `set metadata.labels["kueue.x-k8s.io/queue-name"] to "q"`},
		"an entry":      {[]op{{"add", "/spec/template/spec/tolerations/-", map[string]string{"key": "gpu"}}}, `add {"key":"gpu"} to spec.template.spec.tolerations`},
		"two of a list": {[]op{{"remove", "/spec/parts/0", nil}, {"replace", "/spec/parts/1/count", 3}}, "remove spec.parts[0], set spec.parts[1].count to 3"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := editsOf(operations(c.ops...)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if got := editsOf([]byte("no patch")); got != "" {
		t.Errorf("got %q of something else", got)
	}
}
