package main

import "testing"

func TestGarbageIsCollectedWithinTheBudget(t *testing.T) {
	const mb = 1 << 20
	cases := map[string]struct {
		most         int64
		budget, live int64
		want         int
	}{
		"an input of unknown size":            {roomyPercent, 0, 300 * mb, usualPercent},
		"much room":                           {roomyPercent, 250 * mb, 20 * mb, roomyPercent},
		"half the budget in use":              {roomyPercent, 250 * mb, 150 * mb, 66},
		"little room":                         {roomyPercent, 250 * mb, 210 * mb, 19},
		"next to none: time counts":           {roomyPercent, 250 * mb, 245 * mb, usualPercent},
		"more in use than the budget":         {roomyPercent, 250 * mb, 1000 * mb, usualPercent},
		"an input smaller than the program":   {roomyPercent, -40 * mb, 20 * mb, usualPercent},
		"lint of manifests":                   {lintPercent, lintHeap, 10 * mb, 5020},
		"lint before anything is in use":      {lintPercent, lintHeap, 0, lintPercent},
		"lint of a cluster":                   {lintPercent, lintHeap, 400 * mb, 28},
		"lint of a cluster beyond its budget": {lintPercent, lintHeap, 800 * mb, usualPercent},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := &pacer{most: c.most}
			p.budget.Store(c.budget)
			if got := p.percent(c.live); got != c.want {
				t.Errorf("%d%%, want %d%%", got, c.want)
			}
		})
	}
}

func TestTheLargestBudgetHolds(t *testing.T) {
	p := &pacer{most: lintPercent}
	p.budget.Store(lintHeap)
	p.reads(1 << 20)
	if got := p.budget.Load(); got != lintHeap {
		t.Errorf("budget %d after a small input, want %d", got, lintHeap)
	}
	p.reads(1 << 30)
	if got := p.budget.Load(); got != memoryPerByte*(1<<30)-idleMemory {
		t.Errorf("budget %d after a large input", got)
	}
}
