//! All nodes in one column, edges as arcs beside it: to the right those that go down, to the left those that go up. O(E log E).

use super::{Layout, Link, Point};

/// Space between nodes, and from the widest to the shortest arc.
const GAP: f64 = 26.0;
/// Width of all arcs of a side, at most, and from one length to the next.
const ARCS: f64 = 900.0;
const ARC: f64 = 20.0;
/// Labels that are tried: of more than this nobody finds one.
const LABELS: usize = 300;

/// An order of the nodes from the first on, in which few edges go back: that of a search along heavy edges first.
pub(super) fn order(nodes: usize, links: &[Link]) -> Vec<usize> {
    let mut after: Vec<Vec<(i32, usize)>> = vec![Vec::new(); nodes];
    links.iter().for_each(|l| after[l.from].push((l.weight, l.to)));
    // an edge that is searched along goes down: the heavy ones first
    after.iter_mut().for_each(|of_node| of_node.sort_by_key(|&(weight, to)| (std::cmp::Reverse(weight), to)));
    let mut finished = Vec::with_capacity(nodes);
    let mut seen = vec![false; nodes];
    let mut next = vec![0; nodes];
    for first in 0..nodes {
        let mut path = if std::mem::replace(&mut seen[first], true) { Vec::new() } else { vec![first] };
        while let Some(&node) = path.last() {
            match after[node].get(next[node]) {
                Some(&(_, to)) => {
                    next[node] += 1;
                    if !std::mem::replace(&mut seen[to], true) {
                        path.push(to);
                    }
                }
                None => finished.extend(path.pop()),
            }
        }
    }
    finished.reverse();
    finished
}

/// Layers that all edges together pass, if every node lies below the lowest of those before it: at least as many as in the best layers.
pub(super) fn layers_passed(order: &[usize], links: &[Link]) -> usize {
    let place = places(order);
    let mut down: Vec<(usize, usize)> = links
        .iter()
        .map(|l| (place[l.from], place[l.to]))
        .map(|(a, b)| (a.min(b), a.max(b)))
        .filter(|(a, b)| a != b)
        .collect();
    down.sort_unstable();
    let mut layer = vec![0; order.len()];
    down.iter().for_each(|&(a, b)| layer[b] = layer[b].max(layer[a] + 1));
    down.iter().map(|&(a, b)| layer[b] - layer[a]).sum()
}

/// Place of each node in the order.
fn places(order: &[usize]) -> Vec<usize> {
    let mut place = vec![0; order.len()];
    order.iter().enumerate().for_each(|(i, &node)| place[node] = i);
    place
}

/// Places the nodes in this order, the last node at the end.
pub(super) fn place(order: &[usize], boxes: &[Point], links: &[Link]) -> Layout {
    let last = boxes.len().saturating_sub(1);
    let order: Vec<usize> =
        order.iter().copied().filter(|&n| n != last).chain((!boxes.is_empty()).then_some(last)).collect();
    let mut nodes = vec![(0.0, 0.0); boxes.len()];
    let mut y = 0.0;
    for &node in &order {
        nodes[node] = (0.0, y + boxes[node].1 / 2.0);
        y += boxes[node].1 + GAP;
    }
    let column =
        Column { place: places(&order), nodes: &nodes, boxes, half: boxes.iter().fold(0.0, |w, b| b.0.max(w)) / 2.0 };
    let lines = links.iter().map(|l| column.line(l)).collect();
    let links = with_labels(lines, links);
    Layout { nodes, links, column: true, ..Layout::default() }
}

struct Column<'a> {
    /// Place of each node from the top.
    place: Vec<usize>,
    nodes: &'a [Point],
    boxes: &'a [Point],
    /// Half the width of the widest node.
    half: f64,
}

impl Column<'_> {
    /// An edge from border to border. The further it goes, the nearer to the middle of a node it begins and ends, so that it
    /// does not cross the shorter ones.
    fn line(&self, l: &Link) -> Vec<Point> {
        let (from, to) = (self.place[l.from], self.place[l.to]);
        let side = if to >= from { 1.0 } else { -1.0 };
        let far = from.abs_diff(to) as f64 / self.place.len() as f64;
        let at = |node: usize, below: f64| {
            let ((x, y), (width, height)) = (self.nodes[node], self.boxes[node]);
            (x + side * width / 2.0, y + below * 0.45 * height * (1.0 - far))
        };
        if from == to {
            let (begin, end) = (at(l.from, -0.6), at(l.from, 0.6));
            return vec![begin, (begin.0 + GAP, begin.1), (end.0 + GAP, end.1), end];
        }
        // downwards it leaves below the middle and comes from above, upwards the other way round
        let (begin, end) = (at(l.from, side), at(l.to, -side));
        let step = ARC.min(ARCS / self.place.len() as f64);
        let x = side * (self.half + GAP + step * from.abs_diff(to) as f64);
        vec![begin, (x, begin.1), (x, end.1), end]
    }
}

/// Adds labels, those of heavy edges first, where they cover no other one.
fn with_labels(lines: Vec<Vec<Point>>, links: &[Link]) -> Vec<(Vec<Point>, Option<Point>)> {
    let mut order: Vec<usize> = (0..links.len()).collect();
    order.sort_by_key(|&i| (links[i].from != links[i].to, std::cmp::Reverse(links[i].weight)));
    let mut taken: Vec<(Point, Point)> = Vec::new();
    let mut labels = vec![None; links.len()];
    for i in order.into_iter().take(LABELS) {
        let size = links[i].label;
        let [begin, (x, top), (_, bottom), _] = lines[i][..] else { continue };
        let itself = links[i].from == links[i].to;
        let x = if itself { begin.0 + GAP + size.0 / 2.0 } else { x };
        let free = |&(x, y): &Point| {
            let apart = |&((ax, ay), (w, h)): &(Point, Point)| {
                2.0 * (x - ax).abs() >= size.0 + w || 2.0 * (y - ay).abs() >= size.1 + h
            };
            taken.iter().all(apart)
        };
        let place = [0.5, 0.35, 0.65, 0.2, 0.8].map(|share| (x, top + share * (bottom - top))).into_iter().find(free);
        taken.extend(place.map(|p| (p, size)));
        labels[i] = place;
    }
    lines.into_iter().zip(labels).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(pairs: &[(usize, usize)]) -> Vec<Link> {
        pairs.iter().map(|&(from, to)| Link { from, to, label: (20.0, 16.0), weight: 1 }).collect()
    }

    #[test]
    fn layers_that_edges_pass_are_those_of_the_longest_paths() {
        let chain = links(&[(0, 1), (1, 2), (2, 3), (0, 3), (3, 1), (2, 2)]);
        let order = order(4, &chain);
        assert_eq!(order, [0, 1, 2, 3]);
        assert_eq!(layers_passed(&order, &chain), 3 + 3 + 2);
        assert_eq!(layers_passed(&super::order(3, &[]), &[]), 0);
    }

    #[test]
    fn nodes_and_labels_of_a_column_cover_no_other_one() {
        let all: Vec<(usize, usize)> = (0..30).flat_map(|a| (0..30).map(move |b| (a, b))).collect();
        let links = links(&all);
        let boxes: Vec<Point> = (0..30).map(|i| (100.0 + f64::from(i), 40.0)).collect();
        let placed = place(&order(30, &links), &boxes, &links);
        let mut all: Vec<(Point, Point)> = placed.nodes.iter().copied().zip(boxes).collect();
        all.extend(placed.links.iter().zip(&links).filter_map(|((_, at), l)| Some(((*at)?, l.label))));
        assert!(all.len() > 60);
        for (i, (p, a)) in all.iter().enumerate() {
            for (q, b) in &all[..i] {
                let apart = 2.0 * (p.0 - q.0).abs() >= a.0 + b.0 || 2.0 * (p.1 - q.1).abs() >= a.1 + b.1;
                assert!(apart, "{p:?} {a:?} {q:?} {b:?}");
            }
        }
        assert!(placed.links.iter().all(|(points, _)| points.len() == 4));
    }
}
