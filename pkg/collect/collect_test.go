package collect

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func decoded(t *testing.T, text string) (o map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestStrip(t *testing.T) {
	cases := map[string]struct{ given, want string }{
		"the manager keeps the flags that configure it": {
			`{"kind":"Deployment","spec":{"template":{"spec":{"containers":[{"name":"proxy","args":["--token=x"]},{"name":"manager","command":["/manager","--zap-log-level=2"],"args":["--config=/c.yaml","--feature-gates","A=true","--secret","x"]}]}}}}`,
			`{"kind":"Deployment","spec":{"template":{"spec":{"containers":[{"name":"proxy"},{"name":"manager","args":["--config=/c.yaml","--feature-gates","A=true"]}]}}}}`,
		},
		"labels are words, whatever they are called": {
			`{"kind":"Job","metadata":{"labels":{"env":"prod","command":"x"}},"spec":{"nodeSelector":{"args":"y"}}}`,
			`{"kind":"Job","metadata":{"labels":{"env":"prod","command":"x"}},"spec":{"nodeSelector":{"args":"y"}}}`,
		},
		"parameters of drivers are theirs": {
			`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"annotations":{"a":"b"}},"spec":{"devices":{"config":[{"opaque":{"parameters":{"env":"x","args":["y"]}}}]}}}`,
			`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{},"spec":{"devices":{"config":[{"opaque":{"parameters":{"env":"x","args":["y"]}}}]}}}`,
		},
		"annotations beside other fields, and in templates": {
			`{"kind":"SparkApplication","spec":{"driver":{"annotations":{"vault":"x","kueue.x-k8s.io/a":"b"}},"template":{"metadata":{"annotations":{"not-x-k8s.io/a":"b"}}}}}`,
			`{"kind":"SparkApplication","spec":{"driver":{"annotations":{"kueue.x-k8s.io/a":"b"}},"template":{"metadata":{}}}}`,
		},
		"of Spark's properties those that are charged": {
			`{"kind":"SparkApplication","spec":{"sparkConf":{"spark.executor.memory":"8g","spark.hadoop.fs.s3a.secret.key":"x"},"hadoopConf":{"a":"b"}}}`,
			`{"kind":"SparkApplication","spec":{"sparkConf":{"spark.executor.memory":"8g"}}}`,
		},
		"what is of the wrong shape is no reason to keep it": {
			`{"kind":"Pod","spec":{"containers":[{"env":"TOKEN=x","args":"y"}]},"metadata":[1]}`,
			`{"kind":"Pod","spec":{"containers":[{}]},"metadata":[1]}`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, want := decoded(t, c.given), decoded(t, c.want)
			strip(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("stripped (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNames(t *testing.T) {
	n := names{to: map[string]string{}, given: map[string]int{}}
	n.add("namespace", map[string]bool{"team-a": true, "cpu": true})
	n.add("job", map[string]bool{"zeta": true, "train": true, "a.b-c": true, "team-a": true})
	n.add("job", map[string]bool{"late": true})
	for old, want := range map[string]string{
		"team-a": "namespace-2", "train": "job-2", "zeta": "job-3", "a.b-c": "job-1", "late": "job-4",
		"job-train-5f3c2": "job-job-2-5f3c2", "train-0": "job-2-0", "constrain": "constrain", "": "",
	} {
		if got := n.word(old); got != want {
			t.Errorf("%q becomes %q, want %q", old, got, want)
		}
	}
	const message = "Workload team-a/train: 2 cpu short, preempted by (zeta). Ask train."
	if got, want := n.message(message), "Workload namespace-2/job-2: 2 cpu short, preempted by (job-3). Ask job-2."; got != want {
		t.Errorf("the message becomes %q, want %q", got, want)
	}
	if got := n.config("a: [\n"); got != "a: [\n" {
		t.Errorf("a broken configuration becomes %q", got)
	}
}

// What claims hold must be found again among the devices: a pool is called after its node, in slices, claims and taint rules.
func TestNamesOfWhatClaimsHold(t *testing.T) {
	n := names{to: map[string]string{}, given: map[string]int{}}
	n.add("node", map[string]bool{"gpu-host-7": true})
	n.add("job", map[string]bool{"train": true})
	for name, c := range map[string]struct{ given, want string }{
		"slice": {
			`{"kind":"ResourceSlice","spec":{"driver":"gpu.nvidia.com","nodeName":"gpu-host-7","pool":{"name":"gpu-host-7","generation":1},"devices":[{"name":"gpu-0"}]}}`,
			`{"kind":"ResourceSlice","spec":{"driver":"gpu.nvidia.com","nodeName":"node-1","pool":{"name":"node-1","generation":1},"devices":[{"name":"gpu-0"}]}}`,
		},
		"claim": {
			`{"kind":"ResourceClaim","status":{"allocation":{"devices":{"results":[{"request":"gpu","driver":"gpu.nvidia.com","pool":"gpu-host-7","device":"gpu-0"}]},
			  "nodeSelector":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["gpu-host-7"]}]}]}},"reservedFor":[{"resource":"pods","name":"train-x1"}]}}`,
			`{"kind":"ResourceClaim","status":{"allocation":{"devices":{"results":[{"request":"gpu","driver":"gpu.nvidia.com","pool":"node-1","device":"gpu-0"}]},
			  "nodeSelector":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["node-1"]}]}]}},"reservedFor":[{"resource":"pods","name":"job-1-x1"}]}}`,
		},
		"taint rule": {
			`{"kind":"DeviceTaintRule","spec":{"deviceSelector":{"pool":"gpu-host-7","device":"gpu-0"},"taint":{"key":"xid","effect":"NoExecute"}}}`,
			`{"kind":"DeviceTaintRule","spec":{"deviceSelector":{"pool":"node-1","device":"gpu-0"},"taint":{"key":"xid","effect":"NoExecute"}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := decoded(t, c.given)
			n.object(got, false)
			if diff := cmp.Diff(decoded(t, c.want), got); diff != "" {
				t.Errorf("renamed (-want +got):\n%s", diff)
			}
		})
	}
}
