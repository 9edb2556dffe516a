package controlplane

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

const fieldManager = "gpu-quota-e2e"

// client writes and reads objects of any kind.
type client struct {
	dynamic dynamic.Interface
	mapper  *restmapper.DeferredDiscoveryRESTMapper
}

func newClient(config *rest.Config) (*client, error) {
	d, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	found, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	return &client{d, restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(found))}, nil
}

// all finds the resource of a kind, in all namespaces.
func (c *client) all(gvk schema.GroupVersionKind) (dynamic.NamespaceableResourceInterface, error) {
	mapping, err := c.mapping(gvk)
	if err != nil {
		return nil, err
	}
	return c.dynamic.Resource(mapping.Resource), nil
}

func (c *client) mapping(gvk schema.GroupVersionKind) (*meta.RESTMapping, error) {
	mapping, err := c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) { // a CRD made since the last look
		c.mapper.Reset()
		mapping, err = c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	}
	return mapping, err
}

// resource finds the resource of a kind; namespace is "default" for a namespaced kind without one.
func (c *client) resource(gvk schema.GroupVersionKind, namespace string) (dynamic.ResourceInterface, error) {
	mapping, err := c.mapping(gvk)
	if err != nil {
		return nil, err
	}
	r := c.dynamic.Resource(mapping.Resource)
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return r, nil
	}
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	return r.Namespace(namespace), nil
}

// apply makes an object as it is given, and its status where it has one.
func (c *client) apply(ctx context.Context, o *unstructured.Unstructured) error {
	r, err := c.resource(o.GroupVersionKind(), o.GetNamespace())
	if err != nil {
		return err
	}
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	force := true
	options := metav1.PatchOptions{FieldManager: fieldManager, Force: &force}
	if _, err = r.Patch(ctx, o.GetName(), types.ApplyPatchType, text, options); err != nil {
		return fmt.Errorf("applying %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	if _, given := o.Object["status"]; given && o.GetKind() != "CustomResourceDefinition" {
		if _, err = r.Patch(ctx, o.GetName(), types.ApplyPatchType, text, options, "status"); err != nil &&
			!apierrors.IsNotFound(err) {
			return fmt.Errorf("applying the status of %s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

// Apply makes the objects of a YAML text.
func (cp *ControlPlane) Apply(ctx context.Context, text []byte) error {
	return cp.applyEach(ctx, text, func(*unstructured.Unstructured) error { return nil })
}

// Resource reads and writes the objects of a kind, in all namespaces, as [Admin].
func (cp *ControlPlane) Resource(apiVersion, kind string) (dynamic.NamespaceableResourceInterface, error) {
	return cp.client.all(schema.FromAPIVersionAndKind(apiVersion, kind))
}

// DeleteAll removes all objects of a kind, in all namespaces, or those of some names, and waits until they are
// gone. Finalizers are taken away: not every controller that should do it runs here.
func (cp *ControlPlane) DeleteAll(ctx context.Context, apiVersion, kind string, names ...string) error {
	gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
	all, err := cp.client.all(gvk)
	if err != nil {
		return err
	}
	list, err := all.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, o := range list.Items {
		if len(names) > 0 && !slices.Contains(names, o.GetName()) {
			continue
		}
		r, err := cp.client.resource(gvk, o.GetNamespace())
		if err != nil {
			return err
		}
		if err := remove(ctx, r, o.GetName()); err != nil {
			return fmt.Errorf("deleting %s %s: %w", kind, o.GetName(), err)
		}
	}
	return nil
}

// remove deletes one object and waits until it is gone.
func remove(ctx context.Context, r dynamic.ResourceInterface, name string) error {
	now, background := int64(0), metav1.DeletePropagationBackground
	err := r.Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &now, PropagationPolicy: &background})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return Until(ctx, func(ctx context.Context) error {
		_, err := r.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`),
			metav1.PatchOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		}
		return fmt.Errorf("%s is still there", name)
	})
}

// awaitEstablished waits until CRDs are served.
func (cp *ControlPlane) awaitEstablished(ctx context.Context, names []string) error {
	r, err := cp.Resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
	if err != nil {
		return err
	}
	for _, name := range names {
		err := Until(ctx, func(ctx context.Context) error {
			crd, err := r.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			// They are null at first.
			conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
			for _, c := range conditions {
				if condition, ok := c.(map[string]any); ok && condition["type"] == "Established" &&
					condition["status"] == "True" {
					return nil
				}
			}
			return fmt.Errorf("CRD %s is not served yet", name)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
