package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/gpu-quota/kubectl-gpu-quota/test/e2e/controlplane"
)

const (
	clusterReader   = root + "/plugins/rbac/cluster-reader.yaml"
	namespaceReader = root + "/plugins/rbac/namespace-reader.yaml"
)

// withAWorkload is the shared control plane with one admitted job, and the shipped roles bound to their users:
// the Reader to those for the whole cluster, the Tenant to that for one namespace.
func withAWorkload(t *testing.T) *controlplane.ControlPlane {
	t.Helper()
	cp := sharedControlPlane(t, read(t, walkthrough("claim-template", "kueue.yaml")))
	t.Cleanup(func() { clear(t, cp) })
	apply(t, cp, read(t, walkthrough("claim-template", "cluster.yaml"), clusterReader, namespaceReader))
	awaitQueues(t, cp)
	apply(t, cp, read(t, walkthrough("claim-template", "job.yaml")))
	awaitDecision(t, cp, "claim", want{state: "Admitted"})
	bind := func(kind, name, namespace, roleKind, role, user string) string {
		return fmt.Sprintf("apiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata: {name: %s, namespace: %q}\n"+
			"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: %s, name: %s}\nsubjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %s}]\n",
			kind, name, namespace, roleKind, role, user)
	}
	apply(t, cp, strings.Join([]string{
		bind("ClusterRoleBinding", "reader", "", "ClusterRole", "kubectl-gpu-quota", controlplane.Reader),
		bind("RoleBinding", "reader", controlplane.ManagerNamespace, "Role", "kubectl-gpu-quota-config", controlplane.Reader),
		bind("RoleBinding", "tenant", "team", "ClusterRole", "kubectl-gpu-quota-namespace", controlplane.Tenant),
	}, "---\n"))
	return cp
}

// requestsOf returns what the API server recorded of a user's plugin during act.
func requestsOf(t *testing.T, cp *controlplane.ControlPlane, user string, act func()) []controlplane.Request {
	t.Helper()
	before, err := cp.Requests()
	if err != nil {
		t.Fatal(err)
	}
	act()
	after, err := cp.Requests()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(after[len(before):], func(r controlplane.Request) bool {
		return r.User.Username != user && r.ImpersonatedUser.Username != user || !strings.HasPrefix(r.UserAgent, pluginName)
	})
}

func TestTheShippedRoleIsEnoughAndNotTooMuch(t *testing.T) {
	cp := withAWorkload(t)
	var forAdmin, forReader result
	requests := requestsOf(t, cp, controlplane.Reader, func() {
		for _, args := range [][]string{{"charge", "-A"}, {"explain", "-A"}, {"explain", "job/claim", "-n", "team", "--watch"}, {"charge", "-n", "team"},
			{"queues"}, {"simulate"}, {"devices"}, {"explain", "-A", "--fit"}, {"lint", "--fail-on", "none"}, {"audit"}} {
			args = append(append([]string{"gpu-quota"}, args...), "-o", "json")
			forAdmin = kubectl(t, cp.Kubeconfig(controlplane.Admin), args...)
			forReader = kubectl(t, cp.Kubeconfig(controlplane.Reader), args...)
			if forReader.code != 0 || forReader.stderr != "" || forReader.stdout == "" {
				t.Errorf("%q: exit %d, stderr %q, stdout:\n%s", args, forReader.code, forReader.stderr, forReader.stdout)
			}
			if diff := cmp.Diff(forAdmin.stdout, forReader.stdout); diff != "" {
				t.Errorf("%q gives the reader another answer than the admin (-admin +reader):\n%s", args, diff)
			}
		}
	})
	if len(requests) == 0 {
		t.Fatal("the audit log holds no request of the plugin")
	}
	allowed, used := rulesOf(t, read(t, clusterReader)), map[string]bool{}
	for _, r := range requests {
		if !slices.Contains([]string{"get", "list", "watch"}, r.Verb) {
			t.Errorf("the plugin sent %s %s", r.Verb, r.RequestURI)
		}
		if r.ObjectRef.Resource == "" {
			continue // what is served
		}
		action := r.Verb + " " + r.ObjectRef.Resource + "." + r.ObjectRef.APIGroup
		used[action] = true
		if !allowed[action] || r.ResponseStatus.Code == http.StatusForbidden {
			t.Errorf("%s (%s) was answered %d, and the shipped roles allow it: %t", action, r.RequestURI, r.ResponseStatus.Code, allowed[action])
		}
	}
	for action := range allowed {
		_, resource, _ := strings.Cut(action, " ")
		if served(t, cp, resource) && !used[action] {
			t.Errorf("the shipped roles allow %s, which no command does", action)
		}
	}
}

// rulesOf are the actions that roles allow, as "verb resource.group".
func rulesOf(t *testing.T, text string) map[string]bool {
	t.Helper()
	objects, err := controlplane.Objects([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, o := range objects {
		var role rbacv1.Role // a ClusterRole has its rules in the same place
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						out[verb+" "+resource+"."+group] = true
					}
				}
			}
		}
	}
	return out
}

// served tells whether the API server serves a resource, given as resource.group.
func served(t *testing.T, cp *controlplane.ControlPlane, resource string) bool {
	t.Helper()
	name, group, _ := strings.Cut(resource, ".")
	all := kubectl(t, cp.Kubeconfig(controlplane.Admin), "api-resources", "--api-group="+group, "-o", "name")
	if all.code != 0 {
		t.Fatalf("api-resources: %s", all.stderr)
	}
	return slices.Contains(strings.Fields(all.stdout), strings.TrimSuffix(name+"."+group, "."))
}

func TestATenantGetsAPartialAnswer(t *testing.T) {
	cp := withAWorkload(t)
	for _, who := range []struct {
		name, kubeconfig string
		more             []string
	}{
		{"by itself", cp.Kubeconfig(controlplane.Tenant), nil},
		{"an admin in its place", cp.Kubeconfig(controlplane.Admin), []string{"--as", controlplane.Tenant}},
	} {
		t.Run(who.name, func(t *testing.T) {
			as := func(args ...string) result {
				return kubectl(t, who.kubeconfig, append(append([]string{"gpu-quota"}, args...), who.more...)...)
			}
			r := as("explain", "job/claim", "-n", "team", "-o", `jsonpath={.items[0].reported.state} {.items[0].charge.verdict} {.items[0].charge.published.nvidia\.com/gpu}`)
			if want := "Admitted Unknown 1"; r.stdout != want || r.code != 0 {
				t.Errorf("exit %d, stdout %q, want %q", r.code, r.stdout, want)
			}
			const outside = "warning: could not read (forbidden outside namespace team): LimitRange, LocalQueue.kueue.x-k8s.io, ResourceClaimTemplate.resource.k8s.io, Workload.kueue.x-k8s.io"
			first, second, _ := strings.Cut(strings.TrimSpace(r.stderr), "\n")
			if second != outside {
				t.Errorf("of other namespaces stderr says %q, want %q", second, outside)
			}
			kinds, _ := strings.CutPrefix(first, "warning: could not read (forbidden): ")
			wantUnread := []string{
				"AdmissionCheck.kueue.x-k8s.io", "ClusterQueue.kueue.x-k8s.io", "Cohort.kueue.x-k8s.io", "ConfigMap", "DeviceClass.resource.k8s.io",
				"PriorityClass.scheduling.k8s.io", "ResourceFlavor.kueue.x-k8s.io", "ResourceSlice.resource.k8s.io", "RuntimeClass.node.k8s.io",
				"WorkloadPriorityClass.kueue.x-k8s.io",
			}
			if diff := cmp.Diff(wantUnread, strings.Split(kinds, ", ")); diff != "" {
				t.Errorf("kinds said to be unreadable (-want +got):\n%s", diff)
			}
			if r := as("charge", "-n", "team", "--strict"); r.code != 3 || r.stdout == "" {
				t.Errorf("--strict: exit %d, want 3; stderr %q", r.code, r.stderr)
			}
			if r := as("charge", "-n", "default"); r.code != 2 || r.stdout != "" || !strings.Contains(r.stderr, "neither workloads nor jobs may be listed here") {
				t.Errorf("another namespace: exit %d, stdout %q, stderr %q", r.code, r.stdout, r.stderr)
			}
			if r := as("charge", "-A"); r.code != 2 || r.stdout != "" || !strings.Contains(r.stderr, "neither workloads nor jobs may be listed here") {
				t.Errorf("all namespaces: exit %d, stdout %q, stderr %q", r.code, r.stdout, r.stderr)
			}
		})
	}
}
