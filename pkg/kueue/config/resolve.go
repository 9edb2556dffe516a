package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/jobs"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/release"
)

// Options are what the user says about Kueue on the command line. It wins over anything in the input.
type Options struct {
	// ConfigFile is the path of a Configuration document, or of a ConfigMap that holds one.
	ConfigFile string
	// ConfigData is the content of ConfigFile; it is read from there when nil.
	ConfigData []byte
	// Version of Kueue, such as `0.19.2`, `v0.19` or `main`.
	Version string
	// FeatureGates are laid over those of the input.
	FeatureGates map[string]bool
	// Supposed is the version where neither Version nor the input tells one. It does not win over the input.
	Supposed Supposed
}

// Supposed is a version of Kueue that is known from elsewhere.
type Supposed struct {
	// Version is like that of Options; empty for none.
	Version string
	// By says what tells it: `kueueVersion of .gpu-quota.yaml`.
	By string
}

// Resolve finds the effective configuration of Kueue. The error says that an option can't be used: the version
// can't be read, or the file. Whatever is wrong with a configuration that was found is told in Problems.
func Resolve(snap *cluster.Snapshot, opts Options) (*Config, error) {
	if snap == nil {
		snap = &cluster.Snapshot{}
	}
	r := &resolver{snap: snap, opts: opts, Config: &Config{Uncertain: map[string]string{}, opts: opts}}
	var others []*cluster.Object
	if r.manager, others = findManager(snap); len(others) > 0 {
		r.assume("%s", severalSentence("Deployments of Kueue's manager", r.manager.object, others))
	}
	if err := r.findSource(); err != nil {
		return nil, err
	}
	r.place()
	if err := r.chooseVersion(); err != nil {
		return nil, err
	}
	loadErr := r.load()
	gateRefusal := r.setGates()
	r.refuse(loadErr, gateRefusal)
	r.mapClasses()
	return r.Config, nil
}

// Again finds the configuration in another snapshot, with the options this one was found with.
func (c *Config) Again(snap *cluster.Snapshot) (*Config, error) { return Resolve(snap, c.opts) }

// As finds the configuration in a snapshot as another version of Kueue reads it, with the other options this one was
// found with.
func (c *Config) As(snap *cluster.Snapshot, version string) (*Config, error) {
	opts := c.opts
	opts.Version = version
	return Resolve(snap, opts)
}

// resolver fills a Config step by step.
type resolver struct {
	*Config
	snap    *cluster.Snapshot
	opts    Options
	manager *manager
	source  *configSource
	// kueue is the OpenShift Kueue resource, with its content when that can be read.
	kueue    *cluster.Object
	operator *openShiftConfig
}

func (r *resolver) assume(format string, args ...any) {
	r.Assumptions = append(r.Assumptions, fmt.Sprintf(format, args...))
}

// place finds out where the manager runs, and whether OpenShift's operator runs it.
func (r *resolver) place() {
	managerNamespace, sourceNamespace := "", ""
	if r.manager != nil {
		managerNamespace = r.manager.object.Ref.Namespace
	}
	if r.source != nil {
		sourceNamespace = r.source.namespace
	}
	r.OpenShift = r.kueue != nil || managerNamespace == openShiftNamespace || sourceNamespace == openShiftNamespace
	fallback := upstreamNamespace
	if r.OpenShift {
		fallback = openShiftNamespace
	}
	r.ManagerNamespace = cmp.Or(managerNamespace, sourceNamespace, fallback)
}

func (r *resolver) chooseVersion() error {
	v, from := release.Version{}, VersionFromDefault
	var err error
	switch tag := r.imageVersion(); {
	case r.opts.Version != "":
		from = VersionFromFlag
		if v, err = r.parse(r.opts.Version); err != nil {
			return err
		}
	case tag.Text != "":
		v, from = tag, VersionFromImage
	case r.opts.Supposed.Version != "":
		if v, err = r.parse(r.opts.Supposed.Version); err != nil {
			return fmt.Errorf("%s: %w", r.opts.Supposed.By, err)
		}
		r.assume("nothing in the input tells the version of Kueue; %s is assumed, by %s", v.Text, r.opts.Supposed.By)
	case r.OpenShift:
		v, err = release.Parse(release.DefaultOpenShift)
		r.assume("nothing in the input tells the version of Kueue; %s is assumed, on which the Red Hat build of "+
			"Kueue 1.4 is based. Older builds do not charge claims at all", v.Text)
	default:
		v, err = release.Parse(release.Default)
		r.assume("nothing in the input tells the version of Kueue; %s is assumed, the newest one known", v.Text)
	}
	if err != nil {
		return err
	}
	r.Version, r.Release, r.VersionSource = v.Text, v.Release, from
	r.Behavior = release.Of(r.Release)
	if v.Assumption != "" {
		r.assume("%s", v.Assumption)
	}
	if r.Behavior.Announced && v.Release != release.Main {
		r.assume("what Kueue %s changed is known from its release notes", v.Release)
	}
	return nil
}

// parse reads a version; on OpenShift one of the Red Hat build of Kueue, too.
func (r *resolver) parse(version string) (release.Version, error) {
	if r.OpenShift {
		return release.ParseOpenShift(version)
	}
	return release.Parse(version)
}

// imageVersion reads the version from the image tag of the manager.
func (r *resolver) imageVersion() release.Version {
	if r.manager == nil {
		return release.Version{}
	}
	tag := imageTag(r.manager.container.Image)
	v, err := r.parse(tag)
	if err != nil && r.opts.Version == "" {
		r.assume("the image %s of %s tells no version of Kueue", r.manager.container.Image, r.manager.object.Ref)
	}
	return v
}

// load reads the configuration into Configuration. The error is Kueue's, for one it can't read.
func (r *resolver) load() error {
	kubernetes := readKubernetesGates(r.snap)
	if r.operator != nil {
		r.Operator = r.translateOperator(&kubernetes)
	}
	r.Configuration = defaulted(&configapi.Configuration{}, r.Behavior, r.ManagerNamespace)
	s := r.source
	if s == nil {
		r.From = "Kueue's defaults"
		r.assume("the input holds no configuration of Kueue; the defaults of %s are assumed, but which integrations "+
			"are enabled and how device classes are mapped is not known", r.Version)
		return nil
	}
	r.Origin, r.Ref, r.From = s.origin, s.ref, s.from
	if s.operator {
		r.Found = r.Operator != nil
		if r.Found {
			r.Configuration = r.Operator
			r.explainGates(kubernetes)
		}
		return nil
	}
	r.Found = true
	c, err := decodeConfiguration(s.data, r.Behavior, r.ManagerNamespace)
	if c != nil {
		r.Configuration = c
	}
	if r.Operator != nil {
		r.assume("%s is what the manager reads; the Kueue resource %s is only what the operator makes it from", s.from,
			r.kueue.Ref.Name)
	}
	return err
}

// translateOperator is what the operator writes for the Kueue resource; nil when it can't write anything.
// Without the FeatureGate resource counter sources are taken to be there because their gate is on.
func (r *resolver) translateOperator(kubernetes *kubernetesGates) *configapi.Configuration {
	if !kubernetes.known {
		kubernetes.partitionableDevices = r.operator.hasSources()
	}
	c, err := r.operator.translate(r.Behavior, r.ManagerNamespace, *kubernetes)
	if err != nil {
		r.assume("the operator can't make a configuration of %s: %v", r.kueue.Ref, err)
		return nil
	}
	return defaulted(c, r.Behavior, r.ManagerNamespace)
}

// explainGates says what follows from a FeatureGate resource that is not in the input.
func (r *resolver) explainGates(kubernetes kubernetesGates) {
	if kubernetes.known {
		return
	}
	defaults, _ := resolveGates(r.Release, gateInput{})
	uncertain := []string{release.KueueDRAIntegrationExtendedResource}
	if r.operator.hasSources() {
		uncertain = append(uncertain, release.KueueDRAIntegrationPartitionableDevices)
	}
	for _, gate := range uncertain {
		on, known := defaults[gate]
		if _, told := r.opts.FeatureGates[gate]; on || !known || told {
			continue
		}
		why := fmt.Sprintf("the FeatureGate resource of OpenShift is not in the input; %s is assumed to be %s",
			gate, map[bool]string{true: "on", false: "off"}[r.Configuration.FeatureGates[gate]])
		r.Uncertain[gate] = why
		r.assume("%s", why)
	}
}

// setGates finds the effective feature gates and the behaviour that goes with them.
func (r *resolver) setGates() refusal {
	in := gateInput{configured: r.Configuration.FeatureGates, user: r.opts.FeatureGates}
	if r.manager != nil {
		in.flag, _ = r.manager.flag("feature-gates")
		if _, given := r.manager.flag("config"); !given && r.source != nil && r.opts.ConfigFile == "" &&
			r.opts.ConfigData == nil && !r.source.operator {
			r.assume("%s does not show a --config flag; %s is taken to be what the manager reads", r.manager.object.Ref,
				r.source.from)
		}
	}
	var why refusal
	r.Gates, why = resolveGates(r.Release, in)
	values, _, _ := in.values()
	for _, name := range release.GatesOf(r.Release).Unannounced(values) {
		r.assume("feature gate %s is not known here; whether it changes a charge or an admission is unknown", name)
	}
	r.Behavior = r.Behavior.WithGates(r.Gates)
	return why
}

// refuse records the first reason for which the manager does not start, in the order it looks.
func (r *resolver) refuse(loadErr error, gates refusal) {
	v := validator{r.Configuration, r.Behavior, r.Gates}
	load := refusal{}
	if loadErr != nil {
		load = refusal{stage: stageLoad, err: loadErr}
	}
	invalid := refuseFields(stageValidate, v.validate())
	order := []refusal{load, gates, invalid}
	if r.Behavior.ValidatedAtLoad {
		if !invalid.none() {
			invalid.stage = stageLoad
		}
		order = []refusal{load, invalid, gates}
	}
	order = append(order, r.controllers())
	if i := slices.IndexFunc(order, func(why refusal) bool { return !why.none() }); i >= 0 {
		r.refusal = order[i]
		r.Problems = r.refusal.problems(r.Origin)
	}
}

// controllers is the refusal to run an integration whose gate is off. Kueue names the version of Kubernetes before
// the reason, which is not known here.
func (r *resolver) controllers() refusal {
	i := r.Configuration.Integrations
	if i == nil || !slices.Contains(i.Frameworks, jobs.SparkApplication.Framework) ||
		r.Enabled(release.SparkApplicationIntegration) {
		return refusal{}
	}
	return refusal{stage: stageControllers,
		err: errors.New("failed to configure reconcilers: " + jobs.SparkApplication.Framework +
			" integration is alpha feature. please enable " + release.SparkApplicationIntegration + " featuregate"),
		path: field.NewPath("integrations",
			"frameworks").Index(slices.Index(i.Frameworks, jobs.SparkApplication.Framework)).String()}
}
