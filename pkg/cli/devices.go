package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/report"
)

const devicesLong = `Shows the devices that drivers publish in ResourceSlices: of every node and model how many
there are, how many claims hold, how many more can be allocated now, and how many are tainted.

Partitions of a GPU share its counters, so that most of those published exclude one another.
FREE is how many more of that kind can be allocated together if none of another kind are;
under the devices of a pool stand the counters that are in use. Pools that are incomplete or
invalid serve nobody, as in the scheduler. Taints are the driver's and those of DeviceTaintRules.

What is held is what ResourceClaims of all namespaces say. Where these are not in the input or
may not be read, what is allocated and free is unknown.

Exit codes: 0 done; 2 a usage error, a filter that nothing matches, or a part of the input that
could not be read (the rest is still used); 3 allocations that are unknown under --strict.`

const devicesExample = `  # All devices
  kubectl gpu-quota devices

  # Of one node, with all counters and who holds what
  kubectl gpu-quota devices gpu-node-1 -o wide

  # Of the nodes with a label; of one driver
  kubectl gpu-quota devices -l gpu=a100 --driver gpu.nvidia.com

  # From an export, without a cluster
  kubectl gpu-quota devices --from export.yaml

  # For a program: what is free of each model and profile
  kubectl gpu-quota devices -o jsonpath='{range .models[*]}{.model} {.profile} {.free}{"\n"}{end}'`

// deviceFilter says which devices are shown; an empty list stands for all.
type deviceFilter struct {
	nodes, drivers, pools []string
	labels                labels.Selector
}

func newDevices(env Env) *cobra.Command {
	f, filter := &flags{}, &deviceFilter{}
	cmd := &cobra.Command{
		Use:     "devices [NODE ...] [flags]",
		Short:   "Show the devices published: how many are held, free and tainted",
		Long:    devicesLong,
		Example: devicesExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := f.toOptions(env, nil)
			if err == nil {
				err = filter.take(o, args)
			}
			if err != nil {
				return usageError{err, cmd.CommandPath()}
			}
			return runDevices(cmd.Context(), env, o, filter)
		},
		ValidArgsFunction: f.completeDeviceNodes,
	}
	f.registerInput(cmd)
	selection := pflag.NewFlagSet(selectionGroup, pflag.ContinueOnError)
	selection.StringSliceVar(&filter.nodes, "node", nil, "show the devices that can be used from these nodes; the "+
		"same as naming them")
	selection.StringSliceVar(&filter.drivers, "driver", nil, "show the devices of these drivers")
	selection.StringSliceVar(&filter.pools, "pool", nil, "show the devices of these pools")
	selection.StringVarP(&f.selector, "selector", "l", "", "show the devices that can be used from nodes with these "+
		"labels")
	addGroups(cmd, group{selectionGroup, selection})
	setUsage(cmd, "namespace", "namespace of the objects of -f that name none; claims are read in all namespaces")
	setUsage(cmd, "strict", "exit with code 3 when what claims hold is not known")
	return cmd
}

// take validates the arguments and says what is to be read.
func (d *deviceFilter) take(o *options, args []string) error {
	for _, arg := range args {
		name := strings.TrimPrefix(strings.TrimPrefix(arg, "node/"), "nodes/")
		if name == "" || strings.Contains(name, "/") {
			return fmt.Errorf("%q is no name of a node", arg)
		}
		d.nodes = append(d.nodes, name)
	}
	d.labels = o.labels
	o.everywhere, o.showsAll = true, true
	o.only = []schema.GroupKind{cluster.ResourceSlice, cluster.ResourceClaim, cluster.DeviceTaintRule}
	if !d.labels.Empty() {
		o.only = append(o.only, cluster.Node)
	}
	return nil
}

func runDevices(ctx context.Context, env Env, o *options, filter *deviceFilter) error {
	snap, err := readSnapshot(ctx, env, o)
	if err != nil {
		return err
	}
	warnForbidden(env, snap, o)
	warnTwice(env, snap)
	var missing []string
	for _, gk := range []schema.GroupKind{cluster.ResourceSlice, cluster.ResourceClaim} {
		if !snap.Coverage.Has(gk) {
			missing = append(missing, gk.Kind)
		}
	}
	stock := device.NewStock(device.NewInventory(snap, selector.Newest), device.NewAllocations(snap))
	keepsPool, keepsGroup, err := filter.over(snap, stock)
	if err != nil {
		return err
	}
	doc := report.NewDevices(stock, missing, keepsPool, keepsGroup)
	notFound := filter.unmatched(stock)
	s := &scene{snap: snap}
	if notFound == nil || doc.Pools() > 0 {
		err = s.finishWith(env, o, doc, errIncomplete{unknown: len(missing), what: "kinds that are not in the input"})
		hintKinds(env, o, snap, missing)
	}
	if err == nil {
		return notFound
	}
	return err
}

// over makes the filters of pools and of the devices in them; nil keeps all.
func (d *deviceFilter) over(snap *cluster.Snapshot, stock *device.Stock) (func(*device.PoolStock) bool,
	func(*device.Group) bool, error) {
	var pool func(*device.PoolStock) bool
	if len(d.drivers)+len(d.pools) > 0 {
		pool = func(p *device.PoolStock) bool {
			return (len(d.drivers) == 0 || slices.Contains(d.drivers, p.Driver)) &&
				(len(d.pools) == 0 || slices.Contains(d.pools, p.Name))
		}
	}
	names := d.nodes
	if !d.labels.Empty() {
		if why := snap.Coverage.WhyMissing(cluster.Node); why != "" {
			return nil, nil,
				fmt.Errorf("the labels of nodes are not known (Node: %s); name the nodes instead of -l", why)
		}
		names = slices.DeleteFunc(nodesLabelled(snap, d.labels),
			func(n string) bool { return len(d.nodes) > 0 && !slices.Contains(d.nodes, n) })
		if len(names) == 0 {
			return nil, nil, fmt.Errorf("no node has the labels %s", d.labels)
		}
	}
	if len(names) == 0 {
		return pool, nil, nil
	}
	return pool, func(g *device.Group) bool {
		return slices.ContainsFunc(names, func(n string) bool {
			reaches, known := g.Place.Reaches(n, cluster.As[*corev1.Node](snap.Get(cluster.Node, "", n)))
			return reaches || !known
		})
	}, nil
}

// nodesLabelled are the names of nodes with the labels.
func nodesLabelled(snap *cluster.Snapshot, selector labels.Selector) []string {
	var out []string
	for o, n := range cluster.All[*corev1.Node](snap, cluster.Node) {
		if selector.Matches(labels.Set(n.Labels)) {
			out = append(out, o.Ref.Name)
		}
	}
	return out
}

// unmatched names the values of filters that match nothing published.
func (d *deviceFilter) unmatched(stock *device.Stock) error {
	nodes, drivers, pools := map[string]bool{}, map[string]bool{}, map[string]bool{}
	anyNode := false
	for _, p := range stock.Pools {
		drivers[p.Driver], pools[p.Name] = true, true
		for _, g := range p.Groups {
			nodes[g.Place.Node] = true
			anyNode = anyNode || g.Place.Node == ""
		}
	}
	var errs []error
	for _, n := range d.nodes {
		if !nodes[n] && !anyNode {
			errs = append(errs, fmt.Errorf("no devices are published for node %s", n))
		}
	}
	for _, n := range d.drivers {
		if !drivers[n] {
			errs = append(errs, fmt.Errorf("driver %s publishes no devices", n))
		}
	}
	for _, n := range d.pools {
		if !pools[n] {
			errs = append(errs, fmt.Errorf("there is no pool %s", n))
		}
	}
	return errors.Join(errs...)
}

// completeDeviceNodes completes the names of nodes.
func (f *flags) completeDeviceNodes(cmd *cobra.Command, args []string, typed string) ([]string,
	cobra.ShellCompDirective) {
	var out []string
	for _, n := range f.names(cmd.Context(), cluster.Node) {
		if strings.HasPrefix(n, typed) && !slices.Contains(args, n) {
			out = append(out, n)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
