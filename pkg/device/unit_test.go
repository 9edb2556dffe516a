package device

import (
	"testing"
	"unsafe"
)

// A fleet has a hundred thousand units and more. What can be looked up, or what few devices have, does not belong into a Unit.
func TestUnitsAreSmall(t *testing.T) {
	if size := unsafe.Sizeof(Unit{}); size > 40 {
		t.Errorf("a Unit takes %d bytes, more than 40", size)
	}
}
