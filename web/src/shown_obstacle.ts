// SPDX-License-Identifier: MIT
// Obstacles as three.js objects: floors, and meshes that move and may deform.
import * as three from 'three';
import type { ObstacleFrame } from './frame';
import type { Obstacle } from './protocol';

// Half the side of a floor, in sizes of what stands on it.
const FLOOR_REACH = 40;
const TONES = { light: [0xd9d5ce, 0xcdc8c0], dark: [0x54565c, 0x494b51] } as const;

function checkerTexture(): three.Texture {
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const tones = dark ? TONES.dark : TONES.light;
  const pixels = new Uint8Array(4 * 4);
  for (let i = 0; i < 4; ++i) {
    const tone = tones[(i + (i >> 1)) % 2]!;
    pixels.set([tone >> 16, (tone >> 8) & 255, tone & 255, 255], 4 * i);
  }
  const texture = new three.DataTexture(pixels, 2, 2);
  texture.colorSpace = three.SRGBColorSpace;
  texture.wrapS = texture.wrapT = three.RepeatWrapping;
  texture.magFilter = three.NearestFilter;
  texture.minFilter = three.LinearMipmapLinearFilter;
  texture.generateMipmaps = true;
  texture.anisotropy = 8;
  texture.needsUpdate = true;
  return texture;
}

function showPlane(obstacle: Obstacle, size: number): three.Object3D {
  const side = 2 * FLOOR_REACH * size;
  const material = new three.MeshStandardMaterial({ roughness: 0.95 });
  if (obstacle.checker > 0) {
    material.map = checkerTexture();
    material.map.repeat.setScalar(side / (2 * obstacle.checker));
  } else {
    material.color.fromArray(obstacle.color);
  }
  const mesh = new three.Mesh(new three.PlaneGeometry(side, side), material);
  const normal = new three.Vector3().fromArray(obstacle.normal!).normalize();
  mesh.quaternion.setFromUnitVectors(new three.Vector3(0, 0, 1), normal);
  mesh.position.copy(normal).multiplyScalar(obstacle.offset ?? 0);
  mesh.receiveShadow = true;
  // The pose of the obstacle moves the group; the plane keeps its place in it.
  return new three.Group().add(mesh);
}

function showMesh(obstacle: Obstacle): three.Object3D {
  const source = obstacle.source!;
  const positions = new Float32Array(3 * source.length);
  for (let i = 0; i < source.length; ++i) {
    for (let k = 0; k < 3; ++k) positions[3 * i + k] = obstacle.positions![3 * source[i]! + k]!;
  }
  const geometry = new three.BufferGeometry();
  geometry.setIndex(new three.BufferAttribute(obstacle.triangles!, 1));
  geometry.setAttribute('position', new three.BufferAttribute(positions, 3));
  geometry.computeVertexNormals();
  const material = new three.MeshStandardMaterial({ color: new three.Color().fromArray(obstacle.color), roughness: 0.8, side: three.DoubleSide });
  const mesh = new three.Mesh(geometry, material);
  mesh.castShadow = mesh.receiveShadow = true;
  return mesh;
}

/** size: of the scene, m. */
export function showObstacle(obstacle: Obstacle, size: number): three.Object3D {
  const object = obstacle.normal ? showPlane(obstacle, size) : showMesh(obstacle);
  object.visible = obstacle.visible;
  return object;
}

function deform(mesh: three.Mesh, name: string, values: Float32Array): void {
  const attribute = mesh.geometry.getAttribute(name) as three.BufferAttribute;
  attribute.set(values);
  attribute.needsUpdate = true;
}

export function placeObstacle(object: three.Object3D, { pose, positions, normals }: ObstacleFrame): void {
  if (positions && normals && object instanceof three.Mesh) {
    // It may leave the place where it was at first.
    object.frustumCulled = false;
    deform(object, 'position', positions);
    deform(object, 'normal', normals);
  }
  object.position.fromArray(pose, 0);
  object.quaternion.fromArray(pose, 3);
  object.scale.setScalar(pose[7]!);
}

export function disposeObject(object: three.Object3D): void {
  object.traverse((part) => {
    if (!(part instanceof three.Mesh)) return;
    part.geometry.dispose();
    const material = part.material as three.MeshStandardMaterial;
    material.map?.dispose();
    material.dispose();
  });
}
