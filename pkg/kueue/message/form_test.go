package message

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEveryFormReadsWhatItWrites: the text of a message, read again, is the message; of two releases' words for one code
// the ones that are written.
func TestEveryFormReadsWhatItWrites(t *testing.T) {
	samples := map[string]string{
		"count": "3", "fit": "2", "matching": "0", "asked": "4", "what": "pod", "gate": "KueueDRAIntegration", "source": "counter",
		"sources": "counters", "which": "request selector", "taint": "{gpu yes NoSchedule <nil>}", "where": " but ", "paths": "; preemptor path: /a",
	}
	whats := map[Code]string{NotPublished: "capacity dimension"}
	for name, tc := range map[string]struct {
		table *table
		part  bool
	}{"whole messages": {wholes(), false}, "reasons of flavors": {ofFlavors(), true}, "errors about devices": {ofDevices(), true}} {
		t.Run(name, func(t *testing.T) {
			for _, f := range tc.table.forms {
				if forms()[f.code] != f || f.code == AboveMaximumAlone {
					continue
				}
				var values []string
				for i, field := range f.names {
					v := samples[field]
					if field == "what" && whats[f.code] != "" {
						v = whats[f.code]
					}
					if v == "" {
						v = fmt.Sprintf("%s-%d", field, i)
					}
					values = append(values, v)
				}
				want := Of(f.code, values...)
				got := Parse(want.Text())
				if tc.part {
					all := Find("before, "+want.Text(), f.code)
					if len(all) != 1 {
						t.Errorf("%s: found %d times in %q", f.code, len(all), want.Text())
						continue
					}
					got = all[0]
				}
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(Message{})); diff != "" {
					t.Errorf("%q (-written +read):\n%s", want.Text(), diff)
				}
			}
		})
	}
}

// TestFieldsHaveNames: a reader asks a message for its fields by name.
func TestFieldsHaveNames(t *testing.T) {
	m := Parse("Preempted to accommodate a workload (UID: 1-2, JobUID: UNKNOWN) due to reclamation within the cohort; preemptor path: /a")
	if !m.Is(Preempted) || m.Field("uid") != "1-2" || m.Field("job") != "UNKNOWN" || m.Field("nothing") != "" {
		t.Errorf("read as %+v", m)
	}
	if m := Parse("something Kueue never says"); m.Code != "" || m.Text() != "" {
		t.Errorf("an unknown text is read as %+v", m)
	}
}
