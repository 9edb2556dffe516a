package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

var update = flag.Bool("update", false, "rewrite the roles in plugins/rbac")

const readerHead = `# What kubectl gpu-quota reads, and nothing else. With it, and with the Role below for the one ConfigMap that
# configures Kueue, every command answers for the whole cluster. A test keeps it so.
#
#   kubectl apply -f plugins/rbac/cluster-reader.yaml
#   kubectl create clusterrolebinding gpu-quota-readers --clusterrole=kubectl-gpu-quota --group=YOUR-GROUP
#   kubectl create rolebinding gpu-quota-readers -n kueue-system --role=kubectl-gpu-quota-config --group=YOUR-GROUP
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: kubectl-gpu-quota
rules:
`

const configRole = `---
# Change namespace and name where Kueue was installed elsewhere.
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: kubectl-gpu-quota-config
  namespace: kueue-system
rules:
- apiGroups: [""]
  resources: [configmaps]
  resourceNames: [kueue-manager-config]
  verbs: [get]
`

const tenantHead = `# What kubectl gpu-quota reads of one namespace. Bound there, it is enough to say what Kueue has reserved and why
# it has not. What a new job would be charged is unknown as long as Kueue's configuration may not be read (give it
# with --kueue-config, or bind the Role of cluster-reader.yaml), and device classes and slices where it has claims.
#
#   kubectl apply -f plugins/rbac/namespace-reader.yaml
#   kubectl create rolebinding gpu-quota-readers -n YOUR-NAMESPACE --clusterrole=kubectl-gpu-quota-namespace --group=YOUR-GROUP
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: kubectl-gpu-quota-namespace
rules:
`

// roleRules are the RBAC rules for kinds, one for each API group. Workloads may be watched, too.
func roleRules(wanted func(cluster.Kind) bool) string {
	byGroup := map[string][]string{}
	var groups []string
	for _, k := range cluster.Kinds() {
		if !k.Live || !(&options{nodes: true, claims: true}).reads(k.GroupKind) || !wanted(k) || k.GroupKind == cluster.ConfigMap || k.GroupKind == cluster.Workload {
			continue
		}
		if byGroup[k.Group] == nil {
			groups = append(groups, k.Group)
		}
		byGroup[k.Group] = append(byGroup[k.Group], k.Resource)
	}
	var out strings.Builder
	slices.Sort(groups)
	rule := func(group, resources, verbs string) {
		fmt.Fprintf(&out, "- apiGroups: [%s]\n  resources: [%s]\n  verbs: [%s]\n", quoted(group), resources, verbs)
	}
	for _, group := range groups {
		slices.Sort(byGroup[group])
		rule(group, strings.Join(byGroup[group], ", "), "list")
	}
	rule(cluster.Workload.Group, "workloads", "list, watch")
	return out.String()
}

func quoted(group string) string {
	if group == "" {
		return `""`
	}
	return group
}

func TestTheShippedRolesAllowWhatIsReadAndNothingElse(t *testing.T) {
	for name, want := range map[string]string{
		"cluster-reader.yaml": readerHead + roleRules(func(cluster.Kind) bool { return true }) + configRole,
		"namespace-reader.yaml": tenantHead + roleRules(func(k cluster.Kind) bool { return k.Namespaced }) +
			"- apiGroups: [\"\"]\n  resources: [namespaces] # its own, for the labels that ClusterQueues select by\n  verbs: [get]\n",
	} {
		path := filepath.Join("..", "..", "plugins", "rbac", name)
		if *update {
			writeFile(t, path, want)
			continue
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s is not what the program reads; run make update (-want +got):\n%s", name, diff)
		}
	}
}
