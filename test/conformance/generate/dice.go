package generate

import (
	"fmt"
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// dice is the only source of chance.
type dice struct {
	*rand.Rand
	now time.Time
}

func newDice(seed uint64) *dice {
	return &dice{
		Rand: rand.New(rand.NewPCG(seed, 0x6b75657565)),
		now:  time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC),
	}
}

// chance is true in so many of a hundred cases.
func (d *dice) chance(percent int) bool { return d.IntN(100) < percent }

// between is a number from low to high, both included.
func (d *dice) between(low, high int) int { return low + d.IntN(high-low+1) }

// later is the next moment: a few seconds after the one before, and now and then the same.
func (d *dice) later() metav1.Time {
	if d.chance(2) {
		return metav1.NewTime(d.now)
	}
	d.now = d.now.Add(time.Duration(d.between(1, 40)) * time.Second)
	return metav1.NewTime(d.now)
}

func (d *dice) uid() types.UID {
	return types.UID(fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", d.Uint32(), d.IntN(1<<16), d.IntN(1<<12), d.IntN(1<<12),
		d.Int64N(1<<48)))
}

func (d *dice) meta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: d.uid(), CreationTimestamp: d.later(),
		Generation: 1}
}

func pick[T any](d *dice, from ...T) T { return from[d.IntN(len(from))] }

// some is a random selection in the given order, never empty.
func some[T any](d *dice, from []T) []T {
	var chosen []T
	for _, item := range from {
		if d.chance(65) {
			chosen = append(chosen, item)
		}
	}
	if len(chosen) == 0 {
		return []T{pick(d, from...)}
	}
	return chosen
}

func shuffled[T any](d *dice, from []T) []T {
	order := append([]T(nil), from...)
	d.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}

func ptr[T any](value T) *T { return &value }
