package admission

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// TestLentAsFarAsItIsCertain: what is borrowed comes from somebody's spare quota; from whose, nothing says where
// several have some.
func TestLentAsFarAsItIsCertain(t *testing.T) {
	fr := quota.FlavorResource{Flavor: "a100", Resource: "nvidia.com/gpu"}
	groups := func(nominal int64) []kueue.ResourceGroup {
		return []kueue.ResourceGroup{{CoveredResources: []corev1.ResourceName{fr.Resource}, Flavors: []kueue.FlavorQuotas{
			{Name: "a100", Resources: []kueue.ResourceQuota{{Name: fr.Resource, NominalQuota: *resource.NewQuantity(nominal, resource.DecimalSI)}}}}}}
	}
	type queue struct {
		cohort        string
		nominal, used int64
	}
	cases := map[string]struct {
		queues  map[string]queue
		cohorts map[string]string // to their parents
		own     map[string]int64  // quota of cohorts
		want    map[string]span
	}{
		"nobody borrows": {
			queues: map[string]queue{"a": {"c", 8, 3}, "b": {"c", 8, 8}},
			want:   map[string]span{"a": {}, "b": {}},
		},
		"one has to spare": {
			queues: map[string]queue{"a": {"c", 8, 3}, "b": {"c", 8, 10}},
			want:   map[string]span{"a": {2, 2}, "b": {}},
		},
		"two have, either may be the lender": {
			queues: map[string]queue{"a": {"c", 8, 3}, "b": {"c", 8, 10}, "x": {"c", 4, 3}},
			want:   map[string]span{"a": {1, 2}, "x": {0, 1}},
		},
		"the cohort's own quota may serve": {
			queues: map[string]queue{"a": {"c", 8, 3}, "b": {"c", 8, 12}}, cohorts: map[string]string{"c": ""}, own: map[string]int64{"c": 3},
			want: map[string]span{"a": {1, 4}},
		},
		"cousins lend": {
			queues:  map[string]queue{"a": {"left", 8, 3}, "b": {"right", 8, 10}},
			cohorts: map[string]string{"left": "root", "right": "root", "root": ""},
			want:    map[string]span{"a": {2, 2}, "left": {2, 2}, "right": {}, "b": {}},
		},
		"siblings and cousins may lend": {
			queues:  map[string]queue{"a": {"left", 8, 3}, "b": {"right", 8, 10}, "x": {"right", 8, 7}},
			cohorts: map[string]string{"left": "root", "right": "root", "root": ""},
			want:    map[string]span{"a": {1, 1}, "left": {1, 1}, "x": {1, 1}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var queues []*kueue.ClusterQueue
			for name, q := range tc.queues {
				queues = append(queues, &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: kueue.ClusterQueueSpec{
					CohortName: kueue.CohortReference(q.cohort), ResourceGroups: groups(q.nominal)}})
			}
			var cohorts []*kueue.Cohort
			for name, parent := range tc.cohorts {
				cohorts = append(cohorts, &kueue.Cohort{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: kueue.CohortSpec{
					ParentName: kueue.CohortReference(parent), ResourceGroups: groups(tc.own[name])}})
			}
			f := quota.Build(queues, cohorts)
			for name, q := range tc.queues {
				n := f.Queue(name)
				n.Add(n.Delta(quota.Usage{fr: quota.Amount(q.used)}))
			}
			got := map[string]span{}
			for _, root := range f.Roots() {
				tree := treeOf(root, fr)
				(&treeBuilder{}).lend(tree, fr, span{})
				collect(tree, got)
			}
			for name, want := range tc.want {
				if got[name] != want {
					t.Errorf("%s lends %v, want %v", name, got[name], want)
				}
			}
		})
	}
}

func treeOf(n *quota.Node, fr quota.FlavorResource) *TreeNode {
	out := &TreeNode{Node: n, Lines: []TreeLine{{FlavorResource: fr, Spare: spare(n, fr)}}}
	for _, children := range [][]*quota.Node{n.Cohorts(), n.Queues()} {
		for _, c := range children {
			out.Children = append(out.Children, treeOf(c, fr))
		}
	}
	return out
}

func collect(n *TreeNode, into map[string]span) {
	into[n.Name] = span{n.Lines[0].Lent, n.Lines[0].LentAtMost}
	for _, c := range n.Children {
		collect(c, into)
	}
}
