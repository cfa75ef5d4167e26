// SPDX-License-Identifier: MIT OR Apache-2.0
//! Static routes: the fewest hops, of equal ones the link that comes first.

use std::collections::VecDeque;

use crate::scenario::Topology;

/// Why data or ACKs have no way through the network.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RouteError {
    /// No link names the node.
    #[error("there is no node `{name}`; there {}", nodes(.known))]
    NoNode {
        /// Name of the node.
        name: String,
        /// Names of all nodes that exist.
        known: Vec<String>,
    },
    /// No links lead from one node to the other.
    #[error("there is no route from `{from}` to `{to}`: add links that lead there")]
    NoRoute {
        /// Name of the node that sends.
        from: String,
        /// Name of the node that receives.
        to: String,
    },
    /// A given route names a link that does not exist.
    #[error("there is no link `{name}`")]
    NoLink {
        /// Name of the link.
        name: String,
    },
    /// Two neighbours in a given route do not meet.
    #[error("the route breaks at link `{link}`: it starts at `{starts}`, but the data is at `{at}`")]
    Broken {
        /// Name of the second of the two.
        link: String,
        /// Name of the node at which that link starts.
        starts: String,
        /// Name of the node at which the first of the two ends.
        at: String,
    },
    /// A given route does not lead to the receiver.
    #[error("the route ends at `{ends}`, not at `{to}`")]
    WrongEnd {
        /// Name of the node at which it ends.
        ends: String,
        /// Name of the node that receives.
        to: String,
    },
}

fn nodes(known: &[String]) -> String {
    match known {
        [] => "are none".into(),
        _ => format!("are {}", known.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")),
    }
}

impl Topology {
    /// The index of a node.
    ///
    /// # Errors
    /// If no link names it.
    pub fn node(&self, name: &str) -> Result<usize, RouteError> {
        self.nodes
            .iter()
            .position(|n| n == name)
            .ok_or_else(|| RouteError::NoNode { name: name.to_owned(), known: self.nodes.clone() })
    }

    /// The index of a node, made if it is new.
    pub fn node_or_new(&mut self, name: &str) -> usize {
        self.node(name).unwrap_or_else(|_| {
            self.nodes.push(name.to_owned());
            self.nodes.len() - 1
        })
    }

    /// The links from one node to another.
    ///
    /// # Errors
    /// If no links lead there.
    pub fn route(&self, from: usize, to: usize) -> Result<Vec<usize>, RouteError> {
        let mut arrived_by: Vec<Option<usize>> = vec![None; self.nodes.len()];
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for (i, link) in self.links.iter().enumerate().filter(|(_, l)| l.from == node) {
                if link.to != from && arrived_by[link.to].is_none() {
                    arrived_by[link.to] = Some(i);
                    queue.push_back(link.to);
                }
            }
        }
        let mut route = Vec::new();
        let mut at = to;
        while at != from {
            let Some(link) = arrived_by[at] else {
                let name = |n: usize| self.nodes[n].clone();
                return Err(RouteError::NoRoute { from: name(from), to: name(to) });
            };
            route.push(link);
            at = self.links[link].from;
        }
        route.reverse();
        Ok(route)
    }

    /// A route given by the links' names, checked.
    ///
    /// # Errors
    /// If a link does not exist, does not begin where the one before it ends, or the last ends elsewhere.
    pub fn explicit_route(&self, from: usize, to: usize, names: &[String]) -> Result<Vec<usize>, RouteError> {
        let mut at = from;
        let mut route = Vec::new();
        for name in names {
            let Some(i) = self.links.iter().position(|l| &l.name == name) else {
                return Err(RouteError::NoLink { name: name.clone() });
            };
            let link = &self.links[i];
            if link.from != at {
                let starts = self.nodes[link.from].clone();
                return Err(RouteError::Broken { link: name.clone(), starts, at: self.nodes[at].clone() });
            }
            at = link.to;
            route.push(i);
        }
        if at != to {
            return Err(RouteError::WrongEnd { ends: self.nodes[at].clone(), to: self.nodes[to].clone() });
        }
        Ok(route)
    }
}
