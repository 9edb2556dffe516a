package source

import (
	"context"
	"encoding/json"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// metadataOnly asks for the metadata of objects, and takes whole objects from a server that knows no better.
const metadataOnly = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"

// ReadNames lists the names of the objects of a kind in a live cluster, one page of them: enough to choose from. A
// kind that is not served has none.
func ReadNames(ctx context.Context, opts LiveOptions, kind LiveKind) ([]string, error) {
	client, cluster, err := connect(opts)
	if err != nil {
		return nil, err
	}
	l := &live{client: client, cluster: cluster, namespace: opts.Namespace}
	for _, version := range kind.Versions {
		path := l.path(schema.GroupVersion{Group: kind.Group, Version: version}, kind)
		raw, err := client.Get().AbsPath(path).SetHeader("Accept", metadataOnly).Param("limit",
			strconv.Itoa(pageSize)).Do(ctx).Raw()
		if apierrors.IsNotFound(err) {
			continue
		}
		var list metav1.PartialObjectMetadataList
		if err == nil {
			err = json.Unmarshal(raw, &list)
		}
		var names []string
		for i := range list.Items {
			names = append(names, list.Items[i].Name)
		}
		return names, err
	}
	return nil, nil
}

// path is the URL path of a list.
func (l *live) path(gv schema.GroupVersion, kind LiveKind) string {
	path := groupPath(gv)
	if kind.Namespaced && l.namespace != "" {
		path += "/namespaces/" + l.namespace
	}
	return path + "/" + kind.Resource
}
