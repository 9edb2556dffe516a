package source

import "testing"

func TestScopes(t *testing.T) {
	cases := map[string]Scope{
		"/m/img/namespaces/a/batch/jobs.yaml":                      {Gathered: true, Namespace: "a"},
		"/m/namespaces/a/kueue.x-k8s.io/workloads/w.yaml":          {Gathered: true, Namespace: "a"},
		"/m/namespaces/a/pods/p/p.yaml":                            {Gathered: true, Namespace: "a"},
		"/m/namespaces/a/a.yaml":                                   {Gathered: true, Namespace: "a"},
		"/m/cluster-scoped-resources/kueue.x-k8s.io/queues/q.yaml": {Gathered: true},
		"/m/cluster-scoped-resources/kueue.x-k8s.io/queues.yaml":   {Gathered: true},
		"/m/cluster-scoped-resources/core/namespaces/a.yaml":       {Gathered: true},
		"/x/gpu-quota-dump/parts/apps/deployments.json":            {Part: true},
		"/dump/a/pods.json":                                        {Namespace: "a"},
		"/dump/a/replicasets.yaml":                                 {Namespace: "a"},
		"/m/img/kueue/deployment-kueue-controller-manager.yaml":    {Part: true},
		"/m/img/kueue/workloads.yaml":                              {},
		"/dump/nodes.json":                                         {},
		"/dump/namespaces/all.yaml":                                {},
		"/dump/jobs.yaml":                                          {},
		"/pods.json":                                               {},
	}
	for file, want := range cases {
		if got := scopeOf(file); got != want {
			t.Errorf("%s: %+v, want %+v", file, got, want)
		}
	}
}
