package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/report"
)

// Titles of the flag groups in help.
const (
	inputGroup      = "Input"
	selectionGroup  = "Selection"
	kueueGroup      = "Kueue"
	whatIfGroup     = "What if"
	devicesGroup    = "Devices"
	outputGroup     = "Output"
	connectionGroup = "Connection"
)

// flags are the flags that charge and explain share, as given.
type flags struct {
	filenames, from []string
	recursive       bool

	allNamespaces bool
	selector      string

	kueueVersion, kueueConfig string
	featureGates              []string

	set, without []string

	output, color string
	strict        bool

	config *genericclioptions.ConfigFlags
}

// options are validated flags and arguments.
type options struct {
	flags
	// namespace is the only one looked at; empty means all.
	namespace string
	// everywhere tells that the answer depends on the workloads of all namespaces, whichever are shown.
	everywhere bool
	// aboutFiles tells that the jobs of -f are what is asked about, where nothing else is.
	aboutFiles bool
	// nodes tells that nodes are looked at, too, and claims that what claims hold is.
	nodes, claims bool
	// fit tells that it is asked whether pods can get their devices, and fitLimit how long that may take for a
	// workload.
	fit      bool
	fitLimit time.Duration
	// only are the kinds looked at, in place of those an answer about workloads rests on.
	only []schema.GroupKind
	// showsAll tells that the workloads of all namespaces are shown although there is a namespace of the user's.
	showsAll bool
	// laidNamespace is given to objects of -f that name none.
	laidNamespace string
	// filesAlone tells that there is no cluster: the files of -f are all there is.
	filesAlone bool
	gates      map[string]bool
	labels     labels.Selector
	targets    []target
	// within are queues that the workloads have to be in.
	within   []target
	settings []setting
	gone     []absence
	printer  report.Printer
	// live tells to read the cluster.
	live bool
	// texts stand for files of -f, and skips leaves some out.
	texts map[string][]byte
	skips func(path string, isDir bool) bool
}

// register adds all flags of a command that is about workloads.
func (f *flags) register(cmd *cobra.Command) {
	f.registerShared(cmd)
	selection := pflag.NewFlagSet(selectionGroup, pflag.ContinueOnError)
	selection.BoolVarP(&f.allNamespaces, "all-namespaces", "A", false,
		"take the workloads of all namespaces; the default without a live cluster")
	selection.StringVarP(&f.selector, "selector", "l", "", "take workloads with these labels, on the Workload or on "+
		"its job")
	addGroups(cmd, group{selectionGroup, selection})
	setUsage(cmd, "namespace", "take the workloads of this namespace; the default with a live cluster is that of the "+
		"kubeconfig context")
	inGroup(cmd, "namespace", selectionGroup)
}

// registerShared adds the flags that do not select workloads.
func (f *flags) registerShared(cmd *cobra.Command) {
	kueue := pflag.NewFlagSet(kueueGroup, pflag.ContinueOnError)
	kueue.StringVar(&f.kueueVersion, "kueue-version", "", "version of Kueue to follow, for example v0.20.0 or main; "+
		"the default is that of the manager's image")
	kueue.StringSliceVar(&f.featureGates, "feature-gates", nil, "feature gates of Kueue, as NAME=true,NAME=false; "+
		"they win over the configuration")
	kueue.StringVar(&f.kueueConfig, "kueue-config", "", "file with Kueue's Configuration or the ConfigMap that holds "+
		"it, in place of the one in the input")

	whatIf := pflag.NewFlagSet(whatIfGroup, pflag.ContinueOnError)
	whatIf.StringArrayVar(&f.set, "set", nil, setFlagUsage)
	whatIf.StringArrayVar(&f.without, "without", nil, goneFlagUsage)

	addGroups(cmd, group{kueueGroup, kueue}, group{whatIfGroup, whatIf})
	f.registerInput(cmd)
}

// registerInput adds the flags that say what to read, and how to print.
func (f *flags) registerInput(cmd *cobra.Command) {
	f.config = genericclioptions.NewConfigFlags(true)
	f.config.CacheDir, f.config.DisableCompression = nil, nil
	connection := pflag.NewFlagSet(connectionGroup, pflag.ContinueOnError)
	f.config.AddFlags(connection)

	input := pflag.NewFlagSet(inputGroup, pflag.ContinueOnError)
	input.StringArrayVarP(&f.filenames, "filename", "f", nil,
		"file, directory, glob or - (standard input) with objects to lay over the cluster or the export; repeatable")
	input.BoolVarP(&f.recursive, "recursive", "R", false, "read the directories of -f with everything below them")
	input.StringArrayVar(&f.from, "from", nil,
		"file, directory, glob or - with an export of the whole cluster, read instead of a live one; demo takes a "+
			"small cluster that is built in; repeatable")
	input.BoolVar(&f.strict, "strict", false, "exit with code 3 when a charge is unknown for lack of evidence")

	output := pflag.NewFlagSet(outputGroup, pflag.ContinueOnError)
	output.StringVarP(&f.output, "output", "o", "", "output format: "+strings.Join(report.Formats, ", "))
	output.StringVar(&f.color, "color", "auto", "colour: auto (on a terminal, unless NO_COLOR is set), always or never")

	addGroups(cmd, group{inputGroup, input}, group{outputGroup, output}, group{connectionGroup, connection})
	registerCompletions(cmd)
	f.completeKubeconfig(cmd)
}

// toOptions validates the flags and arguments.
func (f *flags) toOptions(env Env, args []string) (*options, error) {
	o := &options{flags: *f}
	var err error
	if o.targets, err = parseTargets(args); err != nil {
		return nil, err
	}
	if o.labels, err = labels.Parse(f.selector); err != nil {
		return nil, fmt.Errorf("--selector: %w", err)
	}
	if o.gates, err = release.ParseFeatureGates(strings.Join(f.featureGates, ",")); err != nil {
		return nil, fmt.Errorf("--feature-gates: %w", err)
	}
	if !slices.Contains(colorModes, f.color) {
		return nil, fmt.Errorf("--color must be one of %s, not %q", strings.Join(colorModes, ", "), f.color)
	}
	if err := f.checkInputs(); err != nil {
		return nil, err
	}
	if err := o.parseSupposed(); err != nil {
		return nil, err
	}
	o.live = len(f.from) == 0
	if o.printer, err = o.newPrinter(env); err != nil {
		return nil, err
	}
	return o, nil
}

func (o *options) parseSupposed() error {
	for _, text := range o.set {
		s, err := parseSetting(text)
		if err != nil {
			return err
		}
		o.settings = append(o.settings, s)
	}
	for _, text := range o.without {
		a, err := parseGone(text)
		if err != nil {
			return err
		}
		o.gone = append(o.gone, a)
	}
	return nil
}

// newPrinter makes the printer for a result of this moment.
func (o *options) newPrinter(env Env) (report.Printer, error) {
	terminal := env.terminal(o.color)
	if o.live {
		terminal.Now = env.Now()
	}
	return report.New(report.Options{Format: o.output, Terminal: terminal})
}

func (f *flags) checkInputs() error {
	if f.allNamespaces && *f.config.Namespace != "" {
		return fmt.Errorf("--all-namespaces and --namespace exclude each other")
	}
	stdin := 0
	for _, name := range slices.Concat(f.filenames, f.from) {
		switch name {
		case "":
			return fmt.Errorf("-f and --from need a file name")
		case "-":
			stdin++
		}
	}
	if stdin > 1 {
		return fmt.Errorf("standard input (-) can be read only once")
	}
	return nil
}

// selects tells that only some workloads are asked for.
func (o *options) selects() bool {
	return len(o.targets) > 0 || len(o.within) > 0 || !o.labels.Empty() || o.namespace != "" && !o.showsAll
}

// inGroup puts a flag into a group of the help.
func inGroup(cmd *cobra.Command, flag, title string) {
	// The only error is a flag that does not exist, which a test would show.
	_ = cmd.Flags().SetAnnotation(flag, groupAnnotation, []string{title})
}

// setUsage rewords a shared flag for one command.
func setUsage(cmd *cobra.Command, flag, text string) {
	if f := cmd.Flags().Lookup(flag); f != nil {
		f.Usage = text
	}
}
