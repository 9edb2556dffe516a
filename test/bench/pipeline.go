package bench

import (
	"context"
	"errors"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/pipeline"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

// Load reads an export into a snapshot, as `charge --from` does.
func Load(path string) (*cluster.Snapshot, error) {
	b := cluster.NewBuilder(nil)
	err := source.Read(context.Background(), source.Options{Filenames: []string{path}}, b.Sink(cluster.InputOptions{}))
	snap := b.Build()
	if err != nil {
		return nil, err
	}
	if len(snap.Problems) > 0 {
		return nil, snap.Problems[0]
	}
	return snap, nil
}

// Charges charges every workload of a snapshot: all that `charge` does between reading and printing.
func Charges(snap *cluster.Snapshot) ([]*charge.Charge, error) {
	conf, err := config.Resolve(snap, config.Options{})
	if err != nil {
		return nil, err
	}
	out := pipeline.New(snap, conf).Charges()
	if len(out) == 0 {
		return nil, errors.New("the export holds no workload")
	}
	return out, nil
}
