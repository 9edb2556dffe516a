package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
)

// LiveKind is a kind to read from a live cluster.
type LiveKind struct {
	// Group is empty for the core group. Resource is the plural name of the URL.
	Group, Resource, Kind string
	// Versions are those that can be used, the preferred one first.
	Versions   []string
	Namespaced bool
	// Name asks for one object instead of a list. That there is none of this name is no finding.
	Name string
	// MetadataOnly asks for the metadata of the objects, where nobody looks at the rest.
	MetadataOnly bool
}

// LiveOptions say what to read from a live cluster.
type LiveOptions struct {
	Getter genericclioptions.RESTClientGetter
	// Kinds are read in parallel; their objects are handed over in this order.
	Kinds []LiveKind
	// Namespace restricts namespaced kinds; empty: all namespaces.
	Namespace string
	// Cluster is the name put into origins; empty: the current context, else the server.
	Cluster string
	// LabelSelector restricts lists; such a list does not tell what else there is.
	LabelSelector string
	// FirstSeq is the Seq of the first document.
	FirstSeq int
	// Progress counts what has been read; nil: nobody wants to know.
	Progress *Progress
}

// Progress tells how far a reading is. It may be asked while the reading goes on.
type Progress struct{ kinds, read, objects atomic.Int64 }

// Kinds tells how many of the kinds asked for have been read.
func (p *Progress) Kinds() (read, asked int64) { return p.read.Load(), p.kinds.Load() }

// Objects counts the objects read so far.
func (p *Progress) Objects() int64 { return p.objects.Load() }

// parallelLists bounds the list calls under way at once.
const parallelLists = 4

// ReadLive lists kinds from a live cluster. A kind that is forbidden or not served ([NotServed]) goes to
// Sink.Missing, and so does one whose list fails, with a [Problem] besides; of such a kind no object is
// handed over. The error says that the server cannot be reached, went away in the middle, or does not accept
// the user: then nothing that was read is of use, since nobody can tell what is missing.
func ReadLive(ctx context.Context, opts LiveOptions, sink Sink) error {
	client, cluster, err := connect(opts)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)

	if opts.Progress == nil {
		opts.Progress = &Progress{}
	}
	opts.Progress.kinds.Add(int64(len(opts.Kinds)))
	l := &live{
		client: client, cluster: cluster, namespace: opts.Namespace, selector: opts.LabelSelector,
		progress: opts.Progress, served: map[schema.GroupVersion]*discovery{},
	}
	results := make([]chan listing, len(opts.Kinds))
	slots := make(chan struct{}, parallelLists)
	for i, kind := range opts.Kinds {
		results[i] = make(chan listing, 1)
		go func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			res := l.read(ctx, kind)
			opts.Progress.read.Add(1)
			if res.fatal != nil {
				stop(res.fatal)
			}
			results[i] <- res
		}()
	}
	seq := opts.FirstSeq
	for i, kind := range opts.Kinds {
		res := <-results[i]
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		seq = res.deliver(kind, seq, sink)
	}
	return nil
}

// connect makes a client for raw requests.
func connect(opts LiveOptions) (rest.Interface, string, error) {
	given, err := opts.Getter.ToRESTConfig()
	if err != nil {
		return nil, "", fmt.Errorf("no cluster to read from: %w", err)
	}
	config := rest.CopyConfig(given)
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	config.GroupVersion = &schema.GroupVersion{}
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.UserAgent = cmp.Or(config.UserAgent, rest.DefaultKubernetesUserAgent())
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	// A handful of list calls need no throttling on this side; the server has its own.
	config.QPS = -1
	config.WarningHandlerWithContext = rest.NoWarnings{}
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, "", fmt.Errorf("no cluster to read from: %w", err)
	}
	return client, clusterName(opts, config), nil
}

func clusterName(opts LiveOptions, config *rest.Config) string {
	if opts.Cluster != "" {
		return opts.Cluster
	}
	if loader := opts.Getter.ToRawKubeConfigLoader(); loader != nil {
		if raw, err := loader.RawConfig(); err == nil && raw.CurrentContext != "" {
			return raw.CurrentContext
		}
	}
	return config.Host
}

// listing is the outcome of reading one kind.
type listing struct {
	docs       []Document
	apiVersion string
	// part tells that other objects of the kind were not asked for.
	part     bool
	missing  string
	problems []Problem
	fatal    error
}

// deliver hands the outcome to the sink and returns the next Seq.
func (l *listing) deliver(kind LiveKind, seq int, sink Sink) int {
	for _, p := range l.problems {
		sink.Problem(p)
	}
	if l.missing != "" {
		sink.Missing(kind.Group, kind.Kind, l.missing)
		return seq
	}
	for _, d := range l.docs {
		d.Seq = seq
		seq++
		sink.Document(d)
	}
	if len(l.problems) == 0 && !l.part {
		sink.Listed(l.apiVersion, kind.Kind)
	}
	return seq
}

// unreachable names the server, not the request: which of the requests fails first is chance.
func unreachable(err error) error {
	server := ""
	var request *url.Error
	if errors.As(err, &request) {
		if u, parsed := url.Parse(request.URL); parsed == nil {
			server = " " + u.Scheme + "://" + u.Host
		}
		if err = request.Err; request.Timeout() {
			err = fmt.Errorf("no answer in time (see --request-timeout): %w", err)
		}
	}
	return fmt.Errorf("cannot read from the API server%s: %w", server, err)
}

// unavailable are the codes of a server that is overloaded, starts or stops. The client has asked again by then.
var unavailable = []int32{http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusGatewayTimeout}

// failed sorts an error of the server: what is forbidden is missing, what cannot be reached ends the reading.
func failed(request string, err error) listing {
	var status apierrors.APIStatus
	switch {
	case apierrors.IsUnauthorized(err):
		return listing{fatal: fmt.Errorf("the API server does not accept the user: %w", err)}
	case !errors.As(err, &status):
		return listing{fatal: unreachable(err)}
	case apierrors.IsForbidden(err):
		return listing{missing: "forbidden: " + status.Status().Message}
	case status.Status().Code == http.StatusNotFound:
		return listing{missing: NotServed}
	case slices.Contains(unavailable, status.Status().Code):
		return listing{fatal: fmt.Errorf("the API server cannot answer now: %w", err)}
	}
	reason := "the list failed: " + err.Error()
	return listing{missing: reason, problems: []Problem{{Where: request, Reason: reason}}}
}
