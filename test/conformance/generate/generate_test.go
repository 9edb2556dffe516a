package generate

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/webhooks"

	"github.com/gpu-quota/kubectl-gpu-quota/test/conformance/objects"
)

const seeds = 400

func TestSameSeedSameCluster(t *testing.T) {
	for seed := range uint64(20) {
		first, second := encode(t, Cluster(seed)), encode(t, Cluster(seed))
		if !bytes.Equal(first, second) {
			t.Errorf("seed %d: %s", seed, cmp.Diff(string(first), string(second)))
		}
	}
}

func TestClusterSurvivesItsDump(t *testing.T) {
	for seed := range uint64(20) {
		first := encode(t, Cluster(seed))
		decoded, err := objects.Decode(first)
		if err != nil {
			t.Fatal(err)
		}
		if second := encode(t, decoded); !bytes.Equal(first, second) {
			t.Errorf("seed %d: %s", seed, cmp.Diff(string(first), string(second)))
		}
	}
}

func encode(t *testing.T, cluster *objects.Cluster) []byte {
	t.Helper()
	text, err := cluster.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestWebhooksAdmitEverything: what Kueue's webhooks refuse is no cluster to compare on.
func TestWebhooksAdmitEverything(t *testing.T) {
	cohorts := &webhooks.CohortWebhook{}
	for seed := range uint64(seeds) {
		cluster := Cluster(seed)
		for _, flavor := range objects.Of[*kueue.ResourceFlavor](cluster) {
			refuse(t, seed, flavor, webhooks.ValidateResourceFlavor(flavor).ToAggregate())
		}
		for _, queue := range objects.Of[*kueue.ClusterQueue](cluster) {
			refuse(t, seed, queue, webhooks.ValidateClusterQueue(queue).ToAggregate())
		}
		for _, cohort := range objects.Of[*kueue.Cohort](cluster) {
			_, err := cohorts.ValidateCreate(t.Context(), cohort)
			refuse(t, seed, cohort, err)
		}
		for _, wl := range objects.Of[*kueue.Workload](cluster) {
			refuse(t, seed, wl, webhooks.ValidateWorkload(wl, nil).ToAggregate())
		}
	}
}

func refuse(t *testing.T, seed uint64, object client.Object, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("seed %d: %T %s: %v", seed, object, object.GetName(), err)
	}
}
