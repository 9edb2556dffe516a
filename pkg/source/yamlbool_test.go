package source

import (
	"context"
	"testing"
)

func TestBareYAndNAreText(t *testing.T) {
	tests := map[string]struct{ yaml, want string }{
		"a name in block style":         {"kind: A\napiVersion: v1\nmetadata:\n  name: n\n", `{"apiVersion":"v1","kind":"A","metadata":{"name":"n"}}`},
		"a name in flow style":          {"kind: A\napiVersion: v1\nmetadata: {name: y, namespace: N}\n", `{"apiVersion":"v1","kind":"A","metadata":{"name":"y","namespace":"N"}}`},
		"a key":                         {"kind: A\napiVersion: v1\ndata: {y: 1}\n", `{"apiVersion":"v1","data":{"y":1},"kind":"A"}`},
		"in a list after other scripts": {"kind: A\napiVersion: v1\nnames: [ü, n, \"n\", yes]\n", `{"apiVersion":"v1","kind":"A","names":["ü","n","n",true]}`},
		"text of a block stays":         {"kind: A\napiVersion: v1\ndata: |\n  answer: y\n", `{"apiVersion":"v1","data":"answer: y\n","kind":"A"}`},
		"the long words are booleans":   {"kind: A\napiVersion: v1\nsuspend: yes\nother: off\n", `{"apiVersion":"v1","kind":"A","other":false,"suspend":true}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := &recorder{}
			if err := ReadBytes(context.Background(), "a.yaml", []byte(tc.yaml), r); err != nil {
				t.Fatal(err)
			}
			if len(r.docs) != 1 {
				t.Fatalf("documents %v, %v", r.docs, r.lines)
			}
			if got := string(r.docs[0].JSON); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}
